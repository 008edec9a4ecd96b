/**
 * Clocks that were wrong when something was written: no event waits for the wrong time to come.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { timeOf } from "../../actors/merchant/decision.ts";
import type { MerchantState } from "../../actors/merchant/state.ts";
import { createOutbox, type Outbox } from "../../ledger/outbox/outbox.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { readHealth } from "../../ledger/database/read_health.ts";
import { addMerchant, fund, openJournal } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const HOUR_MS = 3_600_000;
const WEBHOOK = { webhookUrl: "http://127.0.0.1:9/hook" };

/** The types of the events that a claim gets, in order. */
async function claimed(outbox: Outbox, merchantId: string): Promise<readonly string[]> {
  const events = await outbox.claim([{ merchantId, room: 64 }]);
  return events.map(({ type }) => type).toSorted();
}

/** A merchant with one event of each of two payments, not tried yet. */
async function withEvents(sql: Sql): Promise<string> {
  const merchantId = await addMerchant(sql, WEBHOOK);
  await sql`
    INSERT INTO book.outbox (id, merchant_id, payment_id, type, payload, status, created_at)
    SELECT 'evt_' || n || ${merchantId}, ${merchantId}, 'dep_' || n, 'deposit.confirmed', '{}', 'PENDING', now()
    FROM generate_series(1, 2) n`;
  return merchantId;
}

for (
  const [what, skew] of [
    ["an hour ahead for a moment", HOUR_MS],
    ["3 s ahead for good", 3_000],
    ["an hour behind", -HOUR_MS],
  ] as const
) {
  test(`an event decided by a node whose clock is ${what} is sent at once, and so are later ones`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    let ahead: number = skew;
    const journal = openJournal(sql, { now: () => Date.now() + ahead });
    const merchantId = await addMerchant(sql, WEBHOOK);
    const outbox = createOutbox(sql);
    await fund(sql, journal, merchantId, "5");
    const both = ["deposit.confirmed"];
    assertEquals(await claimed(outbox, merchantId), both);
    if (skew !== 3_000) ahead = 0;
    const before = Date.now();
    await fund(sql, journal, merchantId, "6");
    assertEquals(await claimed(outbox, merchantId), both);
    const [newest] = await sql<{ created_at: Date }[]>`
      SELECT created_at FROM book.deposit WHERE merchant_id = ${merchantId} ORDER BY seq DESC LIMIT 1`;
    const off = (newest?.created_at.getTime() ?? 0) - before;
    assert(Math.abs(off) < 30_000, `a later deposit is ${off} ms off`);
    await journal.stop(1_000);
  });
}

test("a lease, a retry or a probe further ahead than any lasts holds no event back", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await withEvents(sql);
  const outbox = createOutbox(sql);
  const both = ["deposit.confirmed", "deposit.confirmed"];
  assertEquals(await claimed(outbox, merchantId), both);
  assertEquals(await claimed(outbox, merchantId), [], "both are under a lease");
  await sql`UPDATE book.outbox SET claimed_until = claimed_until + interval '1 hour'`;
  assertEquals(await claimed(outbox, merchantId), both);
  const later = (interval: string) =>
    sql`UPDATE book.outbox SET claimed_until = NULL, next_attempt_at = now() + ${interval}::text::interval`;
  await later("29 seconds");
  assertEquals(await claimed(outbox, merchantId), [], "both wait for their retry");
  await later("1 hour");
  assertEquals(await claimed(outbox, merchantId), both);
  await sql`
    INSERT INTO book.webhook_endpoint (merchant_id, url, failures, last_outcome, failing_since, paused_at, next_probe_at)
    VALUES (${merchantId}, ${WEBHOOK.webhookUrl}, 9, 'timeout', now(), now(), now() + interval '29 seconds')`;
  await sql`UPDATE book.outbox SET attempts = 0, claimed_until = NULL`;
  const states = async () => (await outbox.waiting("", 10)).map(({ state }) => state);
  assertEquals([await states(), await claimed(outbox, merchantId)], [["paused"], []]);
  await sql`UPDATE book.webhook_endpoint SET next_probe_at = now() + interval '1 day'`;
  assertEquals(await states(), ["on"]);
  assertEquals(await claimed(outbox, merchantId), ["deposit.confirmed"], "one, as a probe");
});

test("an untried event from the future is told as one that waits: its age cannot be known", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await withEvents(sql);
  assertEquals((await readHealth(sql, 30)).untriedEvents, 0);
  await sql`UPDATE book.outbox SET created_at = now() + interval '1 hour'`;
  assertEquals((await readHealth(sql, 30)).untriedEvents, 2);
});

Deno.test("a decision is never before the last one, unless that was made while a clock was wrong", () => {
  const after = (lastAt: number, at: number) => timeOf({ lastAt } as MerchantState, at);
  assertEquals(after(1_000_000, 1_000_001), 1_000_001);
  assertEquals(after(1_003_000, 1_000_000), 1_003_000);
  assertEquals(after(1_005_000, 1_000_000), 1_005_000);
  assertEquals(after(1_005_001, 1_000_000), 1_000_000);
  assertEquals(after(1_000_000 + 365 * 24 * HOUR_MS, 1_000_000), 1_000_000);
});
