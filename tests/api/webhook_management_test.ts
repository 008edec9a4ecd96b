import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { EVENT_TYPES } from "../../webhooks/events.ts";
import { NameLookups } from "../../webhooks/name_lookups.ts";
import { createSecretBox } from "../../webhooks/secret_box.ts";
import { hexSignature } from "../../webhooks/signature.ts";
import { CALLBACK_SECRETS_KEY, type TestApi, testApi, testsOfOneApi } from "../support/api.ts";
import { until } from "../support/books.ts";
import { addEvent, eventState, openHook, openWebhooks } from "../support/hooks.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("webhook management");

/** A merchant whose webhook is at a URL. */
async function listener(api: TestApi, url: string) {
  const merchant = await api.addMerchant();
  await api.sql`
    UPDATE book.merchant SET webhook_url = ${url}, webhook_enabled = true
    WHERE merchant_id = ${merchant.id}`;
  return merchant;
}

shared(
  "a test event is signed, tells of nothing, and shows what the endpoint answered",
  async (api) => {
    await using hook = openHook();
    const { id, key } = await listener(api, hook.url);
    const { status, body } = await api.call("POST", `/api/merchants/${id}/webhook/test`, { key });
    const { eventId, durationMs, ...rest } = body;
    assertEquals([status, rest], [200, {
      success: true,
      event: "webhook.test",
      status: 200,
      outcome: "acknowledged",
      answer: '{"ok":true}',
    }]);
    assert(durationMs >= 0);
    const [arrived] = hook.arrived;
    assert(arrived !== undefined);
    assertEquals(arrived.eventId, eventId);
    assertEquals([JSON.parse(arrived.body).type, JSON.parse(arrived.body).eventId], [
      "webhook.test",
      eventId,
    ]);
    const [row] = await api.sql`SELECT webhook_secret FROM book.merchant WHERE merchant_id = ${id}`;
    assertEquals(
      arrived.headers.get("x-webhook-signature"),
      hexSignature(row?.webhook_secret, arrived.body),
    );
    const log = await api.call("GET", "/api/webhook-deliveries", { key });
    const [delivery] = log.body.deliveries;
    assertEquals([delivery.id, delivery.event, delivery.status], [
      eventId,
      "webhook.test",
      "DELIVERED",
    ]);
    assertEquals(delivery.attempts.length, 1);
  },
);

shared("an endpoint that does not acknowledge fails its test, without retries", async (api) => {
  await using hook = openHook(() => new Response("broken", { status: 500 }));
  const { id, key } = await listener(api, hook.url);
  const { status, body } = await api.call("POST", `/api/merchants/${id}/webhook/test`, { key });
  assertEquals([status, body.success, body.status, body.outcome, body.answer], [
    200,
    false,
    500,
    "bad_status",
    "broken",
  ]);
  assertEquals((await eventState(api.sql, body.eventId)).status, "FAILED");
  await api.sql`UPDATE book.merchant SET webhook_url = null WHERE merchant_id = ${id}`;
  const none = await api.call("POST", `/api/merchants/${id}/webhook/test`, { key });
  assertEquals([none.status, none.body.error], [422, "Validation failed"]);
  const readOnly = await api.addKey(id, { permissions: ["read"] });
  assertEquals(
    (await api.call("POST", `/api/merchants/${id}/webhook/test`, { key: readOnly })).status,
    403,
  );
});

shared("a merchant's webhook is tried by one test at a time", async (api) => {
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using hook = openHook(async () => {
    asked.resolve();
    await answered.promise;
    return new Response("ok");
  });
  const [first, second] = [await listener(api, hook.url), await listener(api, hook.url)];
  const tryIt = ({ id, key }: { readonly id: string; readonly key: string }) =>
    api.call("POST", `/api/merchants/${id}/webhook/test`, { key });
  const slow = tryIt(first);
  await asked.promise;
  const more = await Promise.all(Array.from({ length: 5 }, () => tryIt(first)));
  assertEquals(more.map(({ status }) => status), [409, 409, 409, 409, 409]);
  const beside = tryIt(second);
  answered.resolve();
  assertEquals([(await slow).status, (await beside).status], [200, 200]);
  assertEquals((await tryIt(first)).status, 200);
});

shared(
  "a rotated secret signs at once, and the old one beside it for as long as was asked",
  async (api) => {
    await using hook = openHook();
    const { id, key } = await listener(api, hook.url);
    const rotate = (body?: object, by = key) =>
      api.call("POST", `/api/merchants/${id}/webhook/rotate-secret`, {
        key: by,
        ...(body === undefined ? {} : { body }),
      });
    const secrets = async () => {
      await api.call("POST", `/api/merchants/${id}/webhook/test`, { key });
      const arrived = hook.arrived.at(-1);
      assert(arrived !== undefined);
      return (secret: string) => {
        const expected = hexSignature(secret, arrived.body);
        if (arrived.headers.get("x-webhook-signature") === expected) return "current";
        return arrived.headers.get("x-webhook-signature-previous") === expected
          ? "previous"
          : "none";
      };
    };
    const [row] = await api.sql`SELECT webhook_secret FROM book.merchant WHERE merchant_id = ${id}`;
    const oldest: string = row?.webhook_secret;
    const first = await rotate();
    assertEquals(first.status, 200);
    assertMatch(first.body.webhookSecret, /^whsec_/);
    const overlap = Date.parse(first.body.previousValidUntil) - Date.now();
    assert(overlap > 23 * 3_600_000 && overlap <= 24 * 3_600_000);
    const afterFirst = await secrets();
    assertEquals([afterFirst(first.body.webhookSecret), afterFirst(oldest)], [
      "current",
      "previous",
    ]);
    const second = await rotate({ overlapHours: 1 });
    const afterSecond = await secrets();
    assertNotEquals(second.body.webhookSecret, first.body.webhookSecret);
    assertEquals(
      [second, first].map(({ body }) => afterSecond(body.webhookSecret)).concat(
        afterSecond(oldest),
      ),
      ["current", "previous", "none"],
    );
    const third = await rotate({ overlapHours: 0 });
    assertEquals(third.body.previousValidUntil, null);
    const afterThird = await secrets();
    assertEquals([third, second].map(({ body }) => afterThird(body.webhookSecret)), [
      "current",
      "none",
    ]);
    for (const overlapHours of [-1, 169, 1.5, "1"]) {
      assertEquals((await rotate({ overlapHours })).status, 400);
    }
    const readOnly = await api.addKey(id, { permissions: ["read"] });
    assertEquals((await rotate({}, readOnly)).status, 403);
    const stranger = await api.addMerchant();
    assertEquals((await rotate({}, stranger.key)).status, 403);
    const admin = await api.addKey(null, { permissions: ["admin:write"] });
    assertEquals((await rotate({}, admin)).status, 200);
    const nobody = await api.call("POST", "/api/merchants/mer_x/webhook/rotate-secret", {
      key: admin,
    });
    assertEquals(nobody.status, 404);
  },
);

shared(
  "of rotations at once each makes the secret that stood before it the previous one",
  async (api) => {
    const { id, key } = await api.addMerchant();
    const answers = await Promise.all(
      Array.from(
        { length: 5 },
        () => api.call("POST", `/api/merchants/${id}/webhook/rotate-secret`, { key }),
      ),
    );
    const handedOut = new Set(answers.map(({ body }) => body.webhookSecret));
    assertEquals(handedOut.size, 5);
    const [row] = await api.sql`
    SELECT webhook_secret, webhook_secret_previous FROM book.merchant WHERE merchant_id = ${id}`;
    const box = await createSecretBox(CALLBACK_SECRETS_KEY);
    for (const kept of [row?.webhook_secret, row?.webhook_secret_previous]) {
      assert(!handedOut.has(kept));
      assert(handedOut.has(await box.open(kept, id)));
    }
  },
);

shared(
  "the delivery log shows every attempt, filtered and paged, and no other merchant's",
  async (api) => {
    let answer = () => new Response("later", { status: 503 });
    await using hook = openHook(() => answer());
    const { id, key } = await listener(api, hook.url);
    await api.sql`UPDATE book.merchant SET webhook_retry_count = 0 WHERE merchant_id = ${id}`;
    const stranger = await api.addMerchant();
    const webhooks = openWebhooks(api.sql);
    const failed = await addEvent(api.sql, id);
    webhooks.wake(id);
    await until(async () => (await eventState(api.sql, failed)).status === "FAILED");
    answer = () => Response.json({ ok: true });
    const delivered = await addEvent(api.sql, id);
    // its second chance would blur what is looked at here
    await api.sql`INSERT INTO book.event_revival (event_id, merchant_id) VALUES (${failed}, ${id})`;
    webhooks.wake(id);
    await until(async () => (await eventState(api.sql, delivered)).status === "DELIVERED");
    await webhooks.stop();
    const get = async (query = "", by = key) =>
      (await api.call("GET", `/api/webhook-deliveries${query}`, { key: by })).body;
    const all = await get();
    assertEquals(all.deliveries.map((one: { id: string }) => one.id), [delivered, failed]);
    assertEquals(all.pagination, { total: 2, page: 1, limit: 20, pages: 1 });
    const { createdAt, attempts: [attempt], payload, paymentId, ...rest } = all.deliveries[1];
    assertMatch(createdAt + attempt.endedAt, /Z.*Z$/);
    assert(typeof paymentId === "string" && payload.eventId === failed && attempt.durationMs >= 0);
    assertEquals(rest, {
      id: failed,
      event: "deposit.confirmed",
      status: "FAILED",
      reason: null,
      nextAttemptAt: null,
      deliveredAt: null,
    });
    assertEquals([attempt.number, attempt.outcome, attempt.status, attempt.answer], [
      1,
      "bad_status",
      503,
      "later",
    ]);
    const ids = async (query: string) =>
      (await get(query)).deliveries.map((one: { id: string }) => one.id);
    assertEquals(await ids("?status=FAILED"), [failed]);
    assertEquals(await ids("?status=PENDING"), []);
    assertEquals(await ids("?event=deposit.confirmed&limit=1&page=2"), [failed]);
    assertEquals(await ids("?event=deposit.failed"), []);
    assertEquals((await ids("?startDate=2020-01-01")).length, 2);
    assertEquals(await ids("?endDate=2020-01-01"), []);
    assertEquals(await ids("?page=9"), []);
    assertEquals((await get("?page=9")).pagination.total, 2);
    assertEquals((await get("", stranger.key)).deliveries, []);
    for (const query of ["?status=x", "?event=payout.sent", "?limit=101"]) {
      assertEquals((await api.call("GET", `/api/webhook-deliveries${query}`, { key })).status, 400);
    }
  },
);

test("an event is sent again with its id and bytes, whatever became of it before", async () => {
  await using api = await testApi({
    wakeWebhooks: (merchantId) => webhooks.wake(merchantId),
  });
  const webhooks = openWebhooks(api.sql);
  await using hook = openHook();
  const { id, key } = await listener(api, hook.url);
  const stranger = await listener(api, hook.url);
  const again = (eventId: string, by = key) =>
    api.call("POST", `/api/webhook-deliveries/${eventId}/redeliver`, { key: by });
  for (const status of ["DELIVERED", "FAILED", "SKIPPED"]) {
    const eventId = await addEvent(api.sql, id);
    await api.sql`
      UPDATE book.outbox SET status = ${status}, attempts = 7 WHERE id = ${eventId}`;
    assertEquals((await again(eventId, stranger.key)).status, 404);
    const { status: code, body } = await again(eventId);
    assertEquals([code, body.id], [200, eventId]);
    await until(() => hook.arrived.some((arrived) => arrived.eventId === eventId));
    await until(async () => (await eventState(api.sql, eventId)).status === "DELIVERED");
  }
  assertEquals((await again("evt_none")).status, 404);
  const readOnly = await api.addKey(id, { permissions: ["read"] });
  assertEquals((await again("evt_none", readOnly)).status, 403);
  await api.sql`UPDATE book.merchant SET webhook_enabled = false WHERE merchant_id = ${id}`;
  const off = await again("evt_none");
  assertEquals([off.status, off.body.details[0].path], [422, ["webhookEnabled"]]);
  await api.sql`UPDATE book.merchant SET webhook_url = null WHERE merchant_id = ${id}`;
  assertEquals((await again("evt_none")).body.details[0].path, ["webhookUrl"]);
  await webhooks.stop();
});

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
