import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Sql } from "../../ledger/database/connect.ts";
import {
  type DeliveryFilter,
  EVENT_STATUSES,
  foldEventCounts,
  listDeliveries,
} from "../../ledger/outbox/deliveries.ts";
import { ENDPOINT_POLICY } from "../../ledger/outbox/endpoints.ts";
import { createOutbox } from "../../ledger/outbox/outbox.ts";
import { checkBooks } from "../../ledger/reconcile/check_books.ts";
import { type TestApi, testApi } from "../support/api.ts";
import { addMerchant, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { addEvent, eventState, openHook, openWebhooks } from "../support/hooks.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const ACKNOWLEDGED = () => Response.json({ ok: true });
const BROKEN = () => new Response("broken", { status: 500 });

/** A merchant whose webhook is at a URL; events of it are not retried. */
async function listener(api: TestApi, url: string) {
  const merchant = await api.addMerchant();
  await api.sql`
    UPDATE book.merchant SET webhook_url = ${url}, webhook_enabled = true, webhook_retry_count = 0
    WHERE merchant_id = ${merchant.id}`;
  return merchant;
}

/** Deliveries whose endpoints are paused at their second failure. */
function openImpatient(api: TestApi, waitingProbeMs: number) {
  const policy = { ...ENDPOINT_POLICY, pauseAfterMs: 0, waitingProbeMs };
  return openWebhooks(api.sql, { outbox: createOutbox(api.sql, { policy }) });
}

test("an endpoint that fails for long is paused, shown, probed, and recovers with its backlog", async () => {
  let answer = BROKEN;
  await using hook = openHook(() => answer());
  await using api = await testApi();
  const { id, key } = await listener(api, hook.url);
  const status = async () =>
    (await api.call("GET", `/api/merchants/${id}/webhook/status`, { key })).body;
  assertEquals((await status()).state, "active");

  const first = openImpatient(api, 60_000);
  const failed: string[] = [];
  for (let i = 0; i < 2; i++) {
    const event = await addEvent(api.sql, id);
    failed.push(event);
    first.wake(id);
    await until(async () => (await eventState(api.sql, event)).status === "FAILED");
  }
  const paused = await status();
  assertEquals(
    [paused.state, paused.failures, paused.lastOutcome, paused.waiting],
    ["paused", 2, "bad_status", 0],
  );
  assert(Date.parse(paused.nextProbeAt) > Date.now() + 50_000);
  const backlog: string[] = [];
  for (let i = 0; i < 5; i++) backlog.push(await addEvent(api.sql, id));
  const begun = await addEvent(api.sql, id, { attempts: 1 });
  // no wake-up is sent: as after a restart or another node's death, the sweep has to find it
  first.start();
  await until(async () => (await eventState(api.sql, begun)).status === "FAILED");
  assertEquals(hook.arrived.length, 3, "only what was begun is sent while the endpoint is paused");
  await first.stop();

  // another process finds the pause in the database
  await api.sql`UPDATE book.webhook_endpoint SET next_probe_at = now()`;
  const second = openImpatient(api, 60_000);
  second.start();
  await until(async () => (await eventState(api.sql, backlog[0] ?? "")).status === "FAILED");
  const probed = await status();
  assertEquals([probed.state, probed.waiting, hook.arrived.length], ["paused", 4, 4]);
  const nextMs = Date.parse(probed.nextProbeAt) - Date.now();
  assert(nextMs > 30_000 && nextMs < 90_000, `the next probe is due in ${nextMs} ms`);

  answer = ACKNOWLEDGED;
  await api.sql`UPDATE book.webhook_endpoint SET next_probe_at = now()`;
  for (const event of [...backlog, ...failed, begun]) {
    await until(async () => (await eventState(api.sql, event)).status === "DELIVERED");
  }
  const recovered = await status();
  assertEquals([recovered.state, recovered.since, recovered.waiting], ["active", null, 0]);
  await second.stop();
});

test("administrators see whose endpoint acknowledges nothing, the longest first; switched off ones are not there", async () => {
  await using api = await testApi();
  const admin = await api.addKey(null, { permissions: ["admin:read"] });
  const list = () => api.call("GET", "/api/admin/webhook-endpoints", { key: admin });
  assertEquals((await list()).body, { endpoints: [] });
  const shops = [];
  for (
    const [n, url] of ["https://a.example/", "https://b.example/", "https://c.example/"].entries()
  ) {
    const { id } = await listener(api, url);
    shops.push(id);
    await api.sql`
      INSERT INTO book.webhook_endpoint (merchant_id, url, failing_since, failures, last_outcome, paused_at, next_probe_at)
      SELECT ${id}, ${url}, now() - ${n} * interval '1 hour', 9, 'timeout', t, t
      FROM (SELECT CASE WHEN ${n} = 1 THEN now() END AS t) paused`;
  }
  await api.sql`UPDATE book.merchant SET webhook_enabled = false WHERE merchant_id = ${
    shops[2] ?? ""
  }`;
  const { status, body } = await list();
  assertEquals(status, 200);
  assertEquals(
    body.endpoints.map(({ since: _, ...row }: Record<string, unknown>) => row),
    [
      {
        merchantId: shops[1],
        state: "paused",
        url: "https://b.example/",
        failures: 9,
        lastOutcome: "timeout",
      },
      {
        merchantId: shops[0],
        state: "failing",
        url: "https://a.example/",
        failures: 9,
        lastOutcome: "timeout",
      },
    ],
  );
});

test("a test event that is acknowledged, another URL, and asking for it end a pause", async () => {
  await using hook = openHook();
  await using api = await testApi();
  const { id, key } = await listener(api, hook.url);
  const admin = await api.addKey(null, { permissions: ["admin:write"] });
  // a probe further ahead than this policy ever puts one off would be due at once
  const policy = { ...ENDPOINT_POLICY, waitingProbeMs: 3_600_000 };
  const webhooks = openWebhooks(api.sql, { outbox: createOutbox(api.sql, { policy }) });
  const pause = async (url = hook.url) => {
    await api.sql`
      INSERT INTO book.webhook_endpoint (merchant_id, url, failing_since, failures, last_outcome, paused_at, next_probe_at)
      VALUES (${id}, ${url}, now() - interval '1 hour', 9, 'timeout', now(), now() + interval '1 hour')`;
    return await addEvent(api.sql, id);
  };
  const delivered = (event: string) =>
    until(async () => {
      webhooks.wake(id);
      return (await eventState(api.sql, event)).status === "DELIVERED";
    });
  const tested = await pause();
  assertEquals(
    (await api.call("POST", `/api/merchants/${id}/webhook/test`, { key })).body.success,
    true,
  );
  await delivered(tested);

  const moved = await pause("https://elsewhere.example/");
  assertEquals(
    (await api.call("GET", `/api/merchants/${id}/webhook/status`, { key })).body.state,
    "active",
  );
  await delivered(moved);

  const asked = await pause();
  // as the delivery before may do at any time
  webhooks.wake(id);
  const path = `/api/merchants/${id}/webhook/resume`;
  assertEquals((await api.call("POST", path, { key: admin })).body.state, "active");
  await delivered(asked);
  const [line] = await api.sql`SELECT action, before FROM hub.audit WHERE merchant_id = ${id}`;
  assertEquals([line?.action, line?.before.state], ["webhook.resume", "paused"]);
  const nobody = await api.call("POST", "/api/merchants/mer_x/webhook/resume", { key: admin });
  assertEquals(nobody.status, 404);
  await webhooks.stop();
});

test("a range of events is sent once more: by status, kind and time, bounded, in their own bytes", async () => {
  await using hook = openHook();
  await using api = await testApi();
  const { id, key } = await listener(api, hook.url);
  const stranger = await api.addMerchant();
  const admin = await api.addKey(null, { permissions: ["admin:write"] });
  const day = (n: number) => new Date(Date.UTC(2026, 0, n));
  const add = (status: "FAILED" | "SKIPPED", n: number) =>
    addEvent(api.sql, id, { status, createdAt: day(n), attempts: 4 });
  const old = await add("FAILED", 1);
  const failed = [await add("FAILED", 10), await add("FAILED", 11)];
  const skipped = await add("SKIPPED", 10);
  const elsewhere = await addEvent(api.sql, stranger.id, {
    status: "FAILED",
    createdAt: day(10),
    attempts: 4,
  });
  const dates = { startDate: "2026-01-10", endDate: "2026-01-11" };
  const redeliver = (body: unknown, by = key, path = "/api/webhook-deliveries/redeliver") =>
    api.call("POST", path, { key: by, body });
  const { status, body } = await redeliver(dates);
  assertEquals([status, body], [200, {
    redelivered: 2,
    isComplete: true,
    lastEventId: failed[1],
  }]);
  assertEquals((await redeliver(dates)).body, {
    redelivered: 0,
    isComplete: true,
    lastEventId: null,
  });
  const webhooks = openWebhooks(api.sql);
  webhooks.wake(id);
  for (const event of failed) {
    await until(async () => (await eventState(api.sql, event)).status === "DELIVERED");
  }
  assertEquals(hook.arrived.map(({ eventId }) => eventId).toSorted(), failed.toSorted());
  assertEquals(
    hook.arrived[0]?.body,
    JSON.stringify({ type: "deposit", eventId: hook.arrived[0]?.eventId }),
  );
  const states = async () =>
    await Promise.all(
      [old, skipped, elsewhere].map(async (event) => (await eventState(api.sql, event)).status),
    );
  // the second chance after a recovery is for the last 72 hours only
  assertEquals(await states(), ["FAILED", "SKIPPED", "FAILED"]);

  const byAdmin = `/api/merchants/${id}/webhook/redeliver`;
  const other = { ...dates, status: "SKIPPED", event: "deposit.failed" };
  assertEquals((await redeliver(other, admin, byAdmin)).body.redelivered, 0);
  const fitting = { ...dates, status: "SKIPPED", event: "deposit.confirmed" };
  assertEquals((await redeliver(fitting, admin, byAdmin)).body.redelivered, 1);
  const lines = await api
    .sql`SELECT action, after FROM hub.audit WHERE merchant_id = ${id} ORDER BY id`;
  assertEquals(lines.map((line) => [line.action, line.after.count]), [
    ["webhook.redeliver", 0],
    ["webhook.redeliver", 1],
  ]);
  assertEquals(
    (await redeliver({ ...dates, status: "DELIVERED", after: failed[0] })).body.redelivered,
    1,
  );
  await webhooks.stop();

  assertEquals((await redeliver({ startDate: "2026-01-10" })).status, 400);
  assertEquals((await redeliver({ ...dates, status: "PENDING" })).status, 400);
  const reversed = await redeliver({ startDate: "2026-01-11", endDate: "2026-01-09" });
  assertEquals(reversed.status, 422);
  await api.sql`UPDATE book.merchant SET webhook_enabled = false WHERE merchant_id = ${id}`;
  assertEquals((await redeliver(dates)).status, 422);
  const nobody = await redeliver(dates, admin, "/api/merchants/mer_x/webhook/redeliver");
  assertEquals(nobody.status, 404);
});

for (const route of ["test", "resume"]) {
  test(`webhook/${route} has what ran out of retries sent once more`, async () => {
    let isDown = true;
    await using hook = openHook(() =>
      isDown ? new Response("down", { status: 503 }) : Response.json({ ok: true })
    );
    await using api = await testApi({ wakeWebhooks: (id) => webhooks.wake(id) });
    const webhooks = openWebhooks(api.sql);
    const { id, key } = await listener(api, hook.url);
    const old = await addEvent(api.sql, id, {
      status: "FAILED",
      attempts: 1,
      createdAt: new Date(Date.now() - 73 * 3_600_000),
    });
    const missed = [await addEvent(api.sql, id), await addEvent(api.sql, id)];
    webhooks.wake(id);
    for (const event of missed) {
      await until(async () => (await eventState(api.sql, event)).status === "FAILED");
    }
    const path = `/api/merchants/${id}/webhook/${route}`;
    if (route === "test") {
      assertEquals((await api.call("POST", path, { key })).body.success, false);
      for (const event of missed) assertEquals((await eventState(api.sql, event)).status, "FAILED");
    }
    isDown = false;
    assertEquals((await api.call("POST", path, { key })).status, 200);
    for (const event of missed) {
      await until(async () => (await eventState(api.sql, event)).status === "DELIVERED");
    }
    assertEquals((await eventState(api.sql, old)).status, "FAILED");
    await webhooks.stop();
  });
}

test("a test event is refused while deliveries are off, and has them made up once they are on", async () => {
  await using hook = openHook();
  await using api = await testApi();
  const { id, key } = await listener(api, hook.url);
  const missed = await addEvent(api.sql, id, { status: "FAILED", attempts: 1 });
  await api.sql`INSERT INTO book.second_chance (merchant_id, owed_from) VALUES (${id}, ${missed})`;
  const turn = (on: boolean) =>
    api.call("PATCH", `/api/merchants/${id}`, { key, body: { webhookEnabled: on } });
  await turn(false);
  const path = `/api/merchants/${id}/webhook/test`;
  const refused = await api.call("POST", path, { key });
  assertEquals([refused.status, refused.body.error, refused.body.details], [
    422,
    "Validation failed",
    [{
      path: ["webhookEnabled"],
      message: "Callbacks are switched off",
      code: "switched_off",
    }],
  ]);
  assertEquals((await eventState(api.sql, missed)).status, "FAILED");
  await turn(true);
  assertEquals((await api.call("POST", path, { key })).body.success, true);
  const webhooks = openWebhooks(api.sql);
  webhooks.start();
  await until(async () => (await eventState(api.sql, missed)).status === "DELIVERED");
  await webhooks.stop();
});

test("an administrator's test event is audited with its outcome, a merchant's own is not", async () => {
  await using hook = openHook();
  await using api = await testApi();
  const { id, key } = await listener(api, hook.url);
  const admin = await api.addKey(null, { permissions: ["admin:write"] });
  const path = `/api/merchants/${id}/webhook/test`;
  await api.call("POST", path, { key });
  const lines = () =>
    api.sql`SELECT action, subject, after, request_id FROM hub.audit WHERE merchant_id = ${id}`;
  assertEquals((await lines()).length, 0);
  const { body } = await api.call("POST", path, { key: admin });
  const [line, ...more] = await lines();
  assertEquals([line?.action, line?.subject, line?.after, more], [
    "webhook.test",
    id,
    { eventId: body.eventId, outcome: "acknowledged" },
    [],
  ]);
  assert(line?.request_id !== null);
});

test("lastDeliveredAt is the time of the last acknowledgement, whichever event it was for", async () => {
  await using hook = openHook(({ eventId }) =>
    eventId === refused ? new Response("no", { status: 500 }) : Response.json({ ok: true })
  );
  await using api = await testApi({ wakeWebhooks: (id) => webhooks.wake(id) });
  const webhooks = openWebhooks(api.sql);
  const { id, key } = await listener(api, hook.url);
  const last = async () =>
    (await api.call("GET", `/api/merchants/${id}/webhook/status`, { key })).body.lastDeliveredAt;
  assertEquals(await last(), null);
  const older = await addEvent(api.sql, id, { status: "FAILED", attempts: 1 });
  const refused = await addEvent(api.sql, id, { status: "FAILED", attempts: 1 });
  const long = new Date(Date.now() - 3_600_000);
  await api.sql`
    UPDATE book.outbox SET status = 'DELIVERED', delivered_at = ${long} WHERE id = ${refused}`;
  assertEquals(await last(), long.toISOString());
  // sent again in vain: that it was acknowledged an hour ago stays true
  const again = (event: string) =>
    api.call("POST", `/api/webhook-deliveries/${event}/redeliver`, { key });
  await again(refused);
  await until(async () => (await eventState(api.sql, refused)).status === "FAILED");
  assertEquals(await last(), long.toISOString());
  await again(older);
  await until(async () => (await eventState(api.sql, older)).status === "DELIVERED");
  assert(Date.parse(await last()) > long.getTime() + 3_000_000);
  await webhooks.stop();
});

const EVENTS = 900;
const START = Date.parse("2026-03-01T00:00:00Z");
const STEP_MS = 1_234_567;
const TYPES = ["deposit.confirmed", "transaction.confirmed"] as const;

test("a page of the delivery log is the same whether counted by buckets or by hand", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await addMerchant(sql);
  const events = Array.from({ length: EVENTS }, (_, i) => {
    const at = START + i * STEP_MS;
    const time = at.toString(16).padStart(12, "0");
    return {
      id: `evt_${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${String(i).padStart(12, "0")}`,
      // booked later than its id was made, as after a message that waited
      at: at + (i % 5 === 0 ? 900_000 : 0),
      type: TYPES[i % 2] ?? "",
      status: i % 97 === 0 ? "FAILED" : i > EVENTS - 30 ? "PENDING" : "DELIVERED",
    };
  });
  await sql`
    INSERT INTO book.outbox (id, merchant_id, payment_id, type, payload, status, created_at)
    SELECT id, ${merchantId}, id, type, '{}', 'PENDING', at
    FROM unnest(${events.map(({ id }) => id)}::text[], ${events.map(({ type }) => type)}::text[],
      ${
    events.map(({ at }) => new Date(at).toISOString())
  }::text[]::timestamptz[]) e(id, type, at)`;
  for (const status of ["FAILED", "DELIVERED"]) {
    const ids = events.filter((event) => event.status === status).map(({ id }) => id);
    await sql`UPDATE book.outbox SET status = ${status} WHERE id = ANY (${ids}::text[])`;
    if (status === "FAILED") await foldEventCounts(sql);
  }
  const newest = events.toReversed();
  const time = fc.option(
    fc.integer({ min: -3, max: EVENTS + 3 }).map((steps) => START + steps * STEP_MS),
    { nil: undefined },
  );
  const check = fc.asyncProperty(
    fc.record({
      status: fc.constantFrom(undefined, ...EVENT_STATUSES),
      type: fc.constantFrom(undefined, undefined, ...TYPES),
      from: time,
      until: time,
    }),
    fc.integer({ min: 1, max: 50 }),
    fc.constantFrom(1, 7, 100),
    async (filter: DeliveryFilter, page, limit) => {
      const matching = newest.filter((event) =>
        (filter.status === undefined || event.status === filter.status) &&
        (filter.type === undefined || event.type === filter.type) &&
        (filter.from === undefined || event.at >= filter.from) &&
        (filter.until === undefined || event.at < filter.until)
      ).map(({ id }) => id);
      const found = await listDeliveries(sql, merchantId, filter, { page, limit });
      assertEquals(found.total, matching.length);
      assertEquals(
        found.rows.map(({ id }) => id),
        matching.slice((page - 1) * limit, page * limit),
      );
    },
  );
  await fc.assert(check, { numRuns: 80 });
  assertEquals(await countFaults(sql), []);
  // what is pruned is counted no longer
  await sql`DELETE FROM book.outbox WHERE id = ${events[1]?.id ?? ""}`;
  await foldEventCounts(sql);
  assertEquals(await countFaults(sql), []);
  const { total } = await listDeliveries(sql, merchantId, {}, { page: 1, limit: 1 });
  assertEquals(total, EVENTS - 1);
});

/** Kept counts of events that are not those of the events. */
async function countFaults(sql: Sql) {
  const rule = "kept counts of events are those of the events";
  return (await checkBooks(sql)).find((result) => result.rule === rule)?.differences;
}
