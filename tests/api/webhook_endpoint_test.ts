import { assert, assertEquals } from "@std/assert";
import { ENDPOINT_POLICY } from "../../ledger/outbox/endpoints.ts";
import { createOutbox } from "../../ledger/outbox/outbox.ts";
import { type TestApi, testApi } from "../support/api.ts";
import { until } from "../support/books.ts";
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
  // nobody wakes anybody: after a restart, or where another node died, the sweep has to find it
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

test("a test event that is acknowledged, another URL, and asking for it end a pause", async () => {
  await using hook = openHook();
  await using api = await testApi();
  const { id, key } = await listener(api, hook.url);
  const admin = await api.addKey(null, { permissions: ["admin:write"] });
  const webhooks = openWebhooks(api.sql);
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
