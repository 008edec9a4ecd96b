import { assertEquals, assertMatch } from "@std/assert";
import { EVENT_TYPES } from "../../webhooks/event_type.ts";
import { NameLookups } from "../../webhooks/name_lookups.ts";
import { testApi } from "../support/api.ts";
import { until } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("a webhook's host that has IPv6 addresses alone is refused with that reason", async () => {
  const addresses: Readonly<Record<string, readonly string[]>> = {
    "both.example": ["8.8.8.8", "2606:4700::1111"],
    "six.example": ["2606:4700::1111"],
    "inside.example": ["10.0.0.1"],
  };
  const names = new NameLookups({
    resolve: (host, _options, done) =>
      done(null, (addresses[host] ?? []).map((address) => ({ address, family: 4 }))),
  });
  await using api = await testApi({ urlRules: { allowLoopback: false }, names });
  const { id, key } = await api.addMerchant();
  const set = async (host: string) => {
    const body = { webhookUrl: `https://${host}/hook` };
    const answer = await api.call("PATCH", `/api/merchants/${id}`, { key, body });
    const [detail] = answer.body.details ?? [];
    return [answer.status, detail?.code, detail?.message];
  };
  assertEquals(await set("both.example"), [200, undefined, undefined]);
  assertEquals(await set("six.example"), [422, "only_ipv6", "The host needs an IPv4 address"]);
  assertEquals(await set("inside.example"), [
    422,
    "not_public",
    "The host is not a public address",
  ]);
});

test("a subscription to an event that does not exist is refused, to one that is never sent is not", async () => {
  await using api = await testApi();
  const { id, key } = await api.addMerchant();
  const admin = await api.addKey(null, { permissions: ["admin:write"] });
  const set = (webhookEvents: unknown, by = key) =>
    api.call("PATCH", `/api/merchants/${id}`, { key: by, body: { webhookEvents } });
  const known = [...EVENT_TYPES, "deposit.pending", "payout.completed"];
  assertEquals((await set(known)).body.webhookEvents, known);
  for (const name of ["nonsense", "", "deposit.confimed", "deposit.confirmed ", "*", "payout."]) {
    for (const by of [key, admin]) {
      const { status, body } = await set(["deposit.failed", name], by);
      assertEquals([status, body.error], [400, "Invalid request data"], name);
      assertEquals(body.details[0].path, ["webhookEvents", "1"]);
      assertMatch(body.details[0].message, /deposit\.confirmed, deposit\.failed/);
    }
  }
  assertEquals((await set([])).body.webhookEvents, []);
  assertEquals((await set(null)).body.webhookEvents, null);
  const profile = await api.call("GET", `/api/merchants/${id}`, { key });
  assertEquals(profile.body.webhookEvents, null);
});

test("a merchant whose hosts' names hang is told to come again, and no other is", async () => {
  let underWay = 0;
  const end: (() => void)[] = [];
  const names = new NameLookups({
    resolve: (host, _options, done) => {
      const found = () => done(null, [{ address: "8.8.8.8", family: 4 }]);
      if (!host.startsWith("hangs")) return found();
      underWay++;
      end.push(() => {
        underWay--;
        found();
      });
    },
  });
  await using api = await testApi({ urlRules: { allowLoopback: false }, names });
  const busy = await api.addMerchant();
  const calm = await api.addMerchant();
  const set = ({ id, key }: { readonly id: string; readonly key: string }, host: string) =>
    api.call("PATCH", `/api/merchants/${id}`, { key, body: { webhookUrl: `https://${host}/` } });
  const first = set(busy, "hangs-0.example");
  await until(() => underWay === 1);
  const refused = await Promise.all([1, 2, 3, 4].map((n) => set(busy, `hangs-${n}.example`)));
  for (const { status, body, headers } of refused) {
    assertEquals([status, body.error], [503, "Service unavailable"]);
    assertMatch(body.message, /nothing was done/);
    assertEquals(headers.get("retry-after"), "1");
  }
  assertEquals((await set(calm, "shop.example")).status, 200);
  assertEquals(underWay, 1);
  end[0]?.();
  const answer = await first;
  assertEquals([answer.status, answer.body.webhookUrl], [200, "https://hangs-0.example/"]);
  assertEquals((await set(busy, "shop.example")).status, 200);
});
