import { assertEquals, assertMatch } from "@std/assert";
import { EVENT_TYPES } from "../../webhooks/event_type.ts";
import { testApi } from "../support/api.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("a webhook's host that has IPv6 addresses alone is refused with that reason", async () => {
  const addresses: Readonly<Record<string, readonly string[]>> = {
    "both.example": ["8.8.8.8", "2606:4700::1111"],
    "six.example": ["2606:4700::1111"],
    "inside.example": ["10.0.0.1"],
  };
  const resolve = (host: string, _options: unknown, done: (error: null, found: unknown) => void) =>
    done(null, (addresses[host] ?? []).map((address) => ({ address, family: 4 })));
  await using api = await testApi({
    urlRules: { allowLoopback: false },
    resolve: resolve as never,
  });
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
