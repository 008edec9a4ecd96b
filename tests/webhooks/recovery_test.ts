import { assert, assertEquals } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import type { AttemptMark, AttemptResult } from "../../ledger/outbox/attempts.ts";
import { ENDPOINT_POLICY } from "../../ledger/outbox/endpoints.ts";
import { type ClaimedEvent, createOutbox } from "../../ledger/outbox/outbox.ts";
import { addMerchant, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { holdRows } from "../support/hold_rows.ts";
import { addEvent, eventState, openHook, openWebhooks } from "../support/hooks.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const HOUR_MS = 3_600_000;

/** A merchant whose events get one attempt. */
async function listener(sql: Sql, url = "https://shop.example/"): Promise<string> {
  const merchantId = await addMerchant(sql, { webhookUrl: url });
  await sql`UPDATE book.merchant SET webhook_retry_count = 0 WHERE merchant_id = ${merchantId}`;
  return merchantId;
}

function markOf(event: ClaimedEvent, kind: Exclude<AttemptResult["kind"], "retry">): AttemptMark {
  const { eventId, merchantId, attempt, url } = event;
  const outcome = kind === "delivered" ? "acknowledged" : "timeout";
  const rest = { httpStatus: null, durationMs: 1, answer: null };
  return { eventId, merchantId, attempt, url, result: { kind }, outcome, ...rest };
}

/** Events that ran out of retries, as deliveries write it down; the newest end of them is wanted. */
async function fail(sql: Sql, merchantId: string, count: number): Promise<readonly string[]> {
  const outbox = createOutbox(sql);
  const ids = [];
  for (let i = 0; i < count; i++) ids.push(await addEvent(sql, merchantId));
  const claimed = await outbox.claim([{ merchantId, room: count }]);
  assertEquals(claimed.length, count);
  await outbox.mark(claimed.map((event) => markOf(event, "failed")));
  return ids;
}

const statuses = async (sql: Sql, ids: readonly string[]) =>
  await Promise.all(ids.map(async (id) => (await eventState(sql, id)).status));

test("a recovery that a crash forgot is found by any node: what was missed is sent once more", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await using hook = openHook();
  const merchantId = await listener(sql, hook.url);
  const missed = await fail(sql, merchantId, 3);
  // a node writes the acknowledgement down, and dies
  const dead = createOutbox(sql);
  await addEvent(sql, merchantId);
  const claimed = await dead.claim([{ merchantId, room: 1 }]);
  const { recovered } = await dead.mark(claimed.map((event) => markOf(event, "delivered")));
  assertEquals(recovered, [merchantId]);
  assertEquals(await statuses(sql, missed), ["FAILED", "FAILED", "FAILED"]);
  const other = openWebhooks(sql);
  other.start();
  for (const id of missed) {
    await until(async () => (await eventState(sql, id)).status === "DELIVERED");
  }
  await other.stop();
  assertEquals((await sql`SELECT FROM book.second_chance`).length, 0);
});

test("nodes that revive at once give each event one second chance, and miss none", async () => {
  await using database = await testDatabase({ max: 8 });
  const { sql } = database;
  const merchantId = await listener(sql);
  const missed = await fail(sql, merchantId, 40);
  await sql`UPDATE book.second_chance SET recovered_at = now()`;
  const nodes = Array.from({ length: 4 }, () => createOutbox(sql));
  await Promise.all(nodes.map((node) => node.revive()));
  await until(async () => {
    await nodes[0]?.revive();
    return (await sql`SELECT FROM book.second_chance`).length === 0;
  });
  assertEquals(new Set(await statuses(sql, missed)), new Set(["PENDING"]));
  assertEquals((await sql`SELECT FROM book.event_revival`).length, 40);
});

test("more events than are queued at once follow part by part, while the endpoint acknowledges", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await listener(sql);
  await sql`
    INSERT INTO book.outbox (id, merchant_id, payment_id, type, payload, status, attempts, created_at)
    SELECT 'evt_f' || i, ${merchantId}, 'dep_' || i, 'deposit.confirmed', '{}', 'FAILED', 4, now()
    FROM generate_series(1, 2100) i`;
  await sql`INSERT INTO book.second_chance VALUES (${merchantId}, now())`;
  const outbox = createOutbox(sql);
  const waiting = async () => (await sql`SELECT FROM book.outbox WHERE status = 'PENDING'`).length;
  assertEquals(await outbox.revive(), [merchantId]);
  assertEquals(await waiting(), 1_000);
  // it fails again: the rest keeps its second chance until the next acknowledgement
  const [event] = await outbox.claim([{ merchantId, room: 1 }]);
  assert(event !== undefined);
  assertEquals((await outbox.mark([markOf(event, "failed")])).recovered, []);
  assertEquals(await outbox.revive(), []);
  const [next] = await outbox.claim([{ merchantId, room: 1 }]);
  assert(next !== undefined);
  assertEquals((await outbox.mark([markOf(next, "delivered")])).recovered, [merchantId]);
  assertEquals([await outbox.revive(), await outbox.revive()], [[merchantId], [merchantId]]);
  assertEquals(await waiting(), 2_098);
  assertEquals((await sql`SELECT FROM book.second_chance`).length, 0);
});

test("an event that another session holds keeps its second chance", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await listener(sql);
  const [first = "", held = "", last = ""] = await fail(sql, merchantId, 3);
  await sql`UPDATE book.second_chance SET recovered_at = now()`;
  const outbox = createOutbox(sql);
  const letGo = await holdRows(
    database,
    (tx) => tx`SELECT FROM book.outbox WHERE id = ${held} FOR UPDATE`,
  );
  await outbox.revive();
  assertEquals(await statuses(sql, [first, held, last]), ["PENDING", "FAILED", "PENDING"]);
  assertEquals(await outbox.revive(), [], "it is held still");
  await letGo();
  assertEquals(await outbox.revive(), [merchantId]);
  assertEquals(await statuses(sql, [first, held, last]), ["PENDING", "PENDING", "PENDING"]);
  assertEquals((await sql`SELECT FROM book.second_chance`).length, 0);
});

test("a debt is not forgotten by a probe that finds its only event held", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await listener(sql);
  const [held = ""] = await fail(sql, merchantId, 1);
  const letGo = await holdRows(
    database,
    (tx) => tx`SELECT FROM book.outbox WHERE id = ${held} FOR UPDATE`,
  );
  const outbox = createOutbox(sql);
  assertEquals(await outbox.probe(), []);
  await letGo();
  assertEquals((await chance(sql))?.owed_from, held);
  await sql`UPDATE book.second_chance SET recovered_at = now()`;
  assertEquals(await outbox.revive(), [merchantId]);
});

test("what fails again after its second chance is owed nothing: nobody looks for it any more", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await listener(sql);
  const [first = ""] = await fail(sql, merchantId, 2);
  assertEquals((await chance(sql))?.owed_from, first);
  await sql`UPDATE book.second_chance SET recovered_at = now()`;
  const outbox = createOutbox(sql);
  assertEquals(await outbox.revive(), [merchantId]);
  const revived = await outbox.claim([{ merchantId, room: 2 }]);
  assertEquals(revived.length, 2);
  await outbox.mark(revived.map((event) => markOf(event, "failed")));
  assertEquals(await chance(sql), undefined);
  // what fails later is looked for from there on
  const [later = ""] = await fail(sql, merchantId, 1);
  assertEquals((await chance(sql))?.owed_from, later);
});

const chance = async (sql: Sql) => (await sql`SELECT * FROM book.second_chance`)[0];
const endpoint = async (sql: Sql) => (await sql`SELECT * FROM book.webhook_endpoint`)[0];
/** Moves the beginning of the failures so far back that endpoints are probed. */
const failLong = (sql: Sql) =>
  sql`UPDATE book.webhook_endpoint SET failing_since = now() - interval '2 hours'`;
/** Makes the next probe with a failed event due. */
const probeNow = (sql: Sql) => sql`UPDATE book.second_chance SET next_probe_at = now()`;

test("an endpoint for which nothing waits is probed with its failed events in turn, ever more rarely", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  let answer = () => new Response("no", { status: 500 });
  await using hook = openHook(() => answer());
  const merchantId = await listener(sql, hook.url);
  const old = await addEvent(sql, merchantId, {
    status: "FAILED",
    attempts: 1,
    createdAt: new Date(Date.now() - 73 * HOUR_MS),
  });
  const [first = "", second = ""] = await fail(sql, merchantId, 2);
  const policy = { ...ENDPOINT_POLICY, pauseAfterMs: HOUR_MS, firstProbeMs: HOUR_MS };
  const outbox = createOutbox(sql, { policy: { ...policy, longestProbeMs: 4 * HOUR_MS } });
  assertEquals((await chance(sql))?.next_probe_at, null);
  // the first probe comes a while after the retries, however short the endpoint has failed
  assertEquals(await outbox.probe(), []);
  assert((await chance(sql))?.next_probe_at !== null);
  assertEquals(await statuses(sql, [first, second]), ["FAILED", "FAILED"]);
  assertEquals(await outbox.probe(), []);

  const webhooks = openWebhooks(sql, { outbox });
  webhooks.start();
  const probed = [first, second, first, second];
  for (const [i, id] of probed.entries()) {
    const { attempts } = await eventState(sql, id);
    await probeNow(sql);
    await until(async () => {
      const now = await eventState(sql, id);
      return now.status === "FAILED" && now.attempts === attempts + 1;
    });
    const row = await chance(sql);
    assertEquals([row?.probes, row?.probed_id], [i + 1, id]);
    const waitsHours = Math.round((row?.next_probe_at.getTime() - Date.now()) / HOUR_MS);
    assertEquals(waitsHours, i === 0 ? 2 : 4);
  }
  assertEquals(hook.arrived.map(({ eventId }) => eventId), probed);
  const [revived] = await sql`SELECT count(*)::int AS n FROM book.event_revival`;
  assertEquals(revived?.n, 0, "a probe is not the second chance");
  assertEquals((await endpoint(sql))?.paused_at, null);
  answer = () => Response.json({ ok: true });
  await probeNow(sql);
  for (const id of [first, second]) {
    await until(async () => (await eventState(sql, id)).status === "DELIVERED");
  }
  await webhooks.stop();
  assertEquals(await endpoint(sql), undefined);
  assertEquals((await eventState(sql, old)).status, "FAILED");
});

test("an endpoint whose URL was changed is sent a failed event at once, and all others when it acknowledges", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await using hook = openHook(() => Response.json({ ok: true }));
  const merchantId = await listener(sql, "http://127.0.0.1:9/wrong");
  const failed = await fail(sql, merchantId, 3);
  await sql`UPDATE book.webhook_endpoint SET url = 'http://127.0.0.1:9/wrong'`;
  const outbox = createOutbox(sql);
  assertEquals([await outbox.probe(), await outbox.probe()], [[], []]);
  await sql`UPDATE book.merchant SET webhook_url = ${hook.url} WHERE merchant_id = ${merchantId}`;
  const webhooks = openWebhooks(sql, { outbox });
  webhooks.start();
  for (const id of failed) {
    await until(async () => (await eventState(sql, id)).status === "DELIVERED");
  }
  await webhooks.stop();
  assertEquals(hook.arrived.map(({ eventId }) => eventId).toSorted(), failed.toSorted());
});

test("one event that an endpoint refuses holds nothing back: what is new is sent at once, what is owed gets its turn", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await listener(sql);
  const [poison = ""] = await fail(sql, merchantId, 1);
  const outbox = createOutbox(sql);
  await failLong(sql);
  await outbox.probe();
  await probeNow(sql);
  assertEquals(await outbox.probe(), [merchantId]);
  const claim = () => outbox.claim([{ merchantId, room: 8 }]);
  const [probe] = await claim();
  assert(probe !== undefined);
  assertEquals(probe.eventId, poison);
  await outbox.mark([markOf(probe, "failed")]);
  assertEquals((await endpoint(sql))?.paused_at, null, "the probe alone pauses nothing");
  const fresh = await addEvent(sql, merchantId);
  assertEquals((await claim()).map(({ eventId }) => eventId), [fresh]);

  // where the endpoint is paused for other reasons, the refused event does not take the new one's place
  await sql`
    UPDATE book.outbox SET attempts = 0, claimed_until = NULL WHERE id = ${fresh}`;
  await sql`UPDATE book.webhook_endpoint SET paused_at = now(), next_probe_at = now()`;
  await sql`UPDATE book.outbox SET status = 'PENDING' WHERE id = ${poison}`;
  assertEquals(
    new Set((await claim()).map(({ eventId }) => eventId)),
    new Set([poison, fresh]),
  );
  assertEquals((await endpoint(sql))?.probes, 1);
});

test("what was begun is no probe of a paused endpoint: the next event that is new still is one at once", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const outbox = createOutbox(sql);
  const merchantId = await listener(sql);
  await fail(sql, merchantId, 1);
  await sql`UPDATE book.webhook_endpoint SET paused_at = now(), next_probe_at = now()`;
  const begun = await addEvent(sql, merchantId, { attempts: 1 });
  const claim = async () =>
    (await outbox.claim([{ merchantId, room: 8 }])).map(({ eventId }) => eventId);
  assertEquals(await claim(), [begun]);
  const [fresh] = [await addEvent(sql, merchantId), await addEvent(sql, merchantId)];
  assertEquals([await claim(), await claim()], [[fresh], []]);
});

test("an endpoint that was silent for hours is probed with what waits every 30 s, however often it failed", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const outbox = createOutbox(sql);
  const merchantId = await listener(sql);
  await fail(sql, merchantId, 1);
  await failLong(sql);
  await sql`UPDATE book.webhook_endpoint SET paused_at = now(), next_probe_at = now(), probes = 40`;
  const oldest = await addEvent(sql, merchantId);
  await addEvent(sql, merchantId);
  const claimed = await outbox.claim([{ merchantId, room: 8 }]);
  assertEquals(claimed.map(({ eventId }) => eventId), [oldest]);
  const [probed] = await sql<{ seconds: number }[]>`
    SELECT extract(epoch FROM next_probe_at - now())::float8 AS seconds FROM book.webhook_endpoint`;
  assert((probed?.seconds ?? Infinity) <= 30, `the next probe is due in ${probed?.seconds} s`);
});

test("of nodes that probe at once one does, and none does without anything to send", async () => {
  await using database = await testDatabase({ max: 8 });
  const { sql } = database;
  const merchantId = await listener(sql);
  const missed = await fail(sql, merchantId, 5);
  const nodes = Array.from({ length: 4 }, () => createOutbox(sql));
  await failLong(sql);
  await probeNow(sql);
  const probed = await Promise.all(nodes.map((node) => node.probe()));
  assertEquals(probed.flat(), [merchantId]);
  const [oldest, ...others] = await statuses(sql, missed);
  assertEquals([oldest, new Set(others)], ["PENDING", new Set(["FAILED"])]);
  // while something waits, that is the probe
  await probeNow(sql);
  assertEquals(await nodes[0]?.probe(), []);
  await sql`DELETE FROM book.outbox WHERE status = 'PENDING'`;
  await sql`INSERT INTO book.event_revival SELECT id, merchant_id FROM book.outbox`;
  assertEquals(await nodes[0]?.probe(), []);
  // nothing is owed: no node looks again until something else runs out of retries
  assertEquals((await sql`SELECT FROM book.second_chance`).length, 0);
});

test("what was begun is found by the sweep while the endpoint is paused, what is new is not", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const outbox = createOutbox(sql);
  const pause = async () => {
    const merchantId = await listener(sql);
    await sql`
      INSERT INTO book.webhook_endpoint (merchant_id, url, failures, last_outcome, paused_at, next_probe_at)
      VALUES (${merchantId}, 'https://shop.example/', 9, 'timeout', now(), now() + interval '29 seconds')`;
    return merchantId;
  };
  const at = (ms: number) => new Date(Date.now() + ms);
  const fresh = await pause();
  await addEvent(sql, fresh);
  const held = await pause();
  await addEvent(sql, held, { attempts: 1, claimedUntil: at(30_000) });
  const later = await pause();
  const retry = await addEvent(sql, later, { attempts: 1 });
  await sql`UPDATE book.outbox SET next_attempt_at = now() + interval '29 seconds' WHERE id = ${retry}`;
  const due = await pause();
  await addEvent(sql, due, { attempts: 1 });
  const leaseOver = await pause();
  await addEvent(sql, leaseOver, { attempts: 1, claimedUntil: at(-1_000) });
  const states = new Map(
    (await outbox.waiting("", 100)).map(({ merchantId, state }) => [merchantId, state]),
  );
  assertEquals([fresh, held, later, due, leaseOver].map((id) => states.get(id)), [
    "paused",
    "paused",
    "paused",
    "on",
    "on",
  ]);
});
