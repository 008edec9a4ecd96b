import { assertEquals, assertLess } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import { createOutbox } from "../../ledger/outbox/outbox.ts";
import { addMerchant } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { until } from "../support/until.ts";

const test = testNeeding(DATABASE);

async function addEvents(sql: Sql, merchantId: string, count: number): Promise<void> {
  await sql`
    INSERT INTO book.outbox (id, merchant_id, payment_id, type, payload, status, created_at)
    SELECT 'evt_' || e, ${merchantId}, 'dep_' || e, 'deposit.confirmed', '{}', 'PENDING', now()
    FROM (SELECT gen_random_uuid()::text AS e FROM generate_series(1, ${count}::int)) e`;
}

/** Claims with EXPLAIN; answers pages read and events claimed. */
async function claim(sql: Sql, merchants: readonly string[], room: number) {
  const [row] = await sql.unsafe(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)
     SELECT * FROM book.claim_events($1::text[], $2::int[], 'node/1', 5000, 30000)`,
    [[...merchants], merchants.map(() => room)],
  );
  const plan = row?.["QUERY PLAN"][0].Plan;
  return { pages: Number(plan["Shared Hit Blocks"]), events: Number(plan["Actual Rows"]) };
}

async function claimAll(sql: Sql, merchants: readonly string[], room: number): Promise<void> {
  const rooms = merchants.map(() => room);
  await sql`
    SELECT FROM book.claim_events(${merchants}::text[], ${rooms}::int[], 'node/1', 5000, 30000)`;
}

/** Waits for what began to look at the database before, as the autovacuum does: no claim forgets what is dead for it. */
async function untilForgotten(sql: Sql): Promise<void> {
  await until(async () => {
    const rows = await sql`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND backend_xmin IS NOT NULL`;
    return rows.length === 0;
  });
}

test("a claim reads what it takes, also by a plan that is kept", async () => {
  await using database = await testDatabase();
  const sql = database.connect({ max: 1 });
  const merchants: string[] = [];
  for (let i = 0; i < 40; i++) merchants.push(await addMerchant(sql));
  for (const merchantId of merchants) await addEvents(sql, merchantId, 20);
  await sql`UPDATE book.merchant SET webhook_url = 'https://shop.example/', webhook_enabled = true`;
  for (let i = 0; i < 8; i++) await claimAll(sql, merchants, 1);
  const [busy = ""] = merchants;
  await addEvents(sql, busy, 5_000);
  await sql`VACUUM ANALYZE book.outbox`;
  await untilForgotten(sql);
  for (let i = 0; i < 8; i++) await claimAll(sql, merchants, 1);
  const { events, pages } = await claim(sql, [busy], 10);
  assertEquals(events, 10);
  // sorted, it would be three pages for each of the 5,000
  assertLess(pages, 1_000);
});

/**
 * Payments whose first event waits for its retry, each with a second event behind it; as deliveries leave them.
 *
 * @param attempts of each event before it was sent again; 0: it is new
 */
async function addWaiting(
  sql: Sql,
  merchantId: string,
  payments: number,
  attempts = 0,
): Promise<void> {
  await sql`
    INSERT INTO book.outbox (id, merchant_id, payment_id, type, payload, status, created_at, attempts)
    SELECT 'evt_0' || lpad(n::text, 9, '0') || k, ${merchantId}, 'wd_' || n, 'withdrawal.confirmed', '{}', 'PENDING',
      CASE WHEN ${attempts}::int = 0 THEN now() ELSE now() - interval '1 hour' END, ${attempts}::int
    FROM generate_series(1, ${payments}::int) n, generate_series(1, 2) k`;
  const outbox = createOutbox(sql);
  const claimed = await outbox.claim([{ merchantId, room: payments }]);
  assertEquals(claimed.length, payments);
  await outbox.mark(claimed.map(({ eventId, attempt, url }) => ({
    eventId,
    merchantId,
    attempt,
    url,
    result: { kind: "retry", delayMs: 29_000 },
    outcome: "timeout",
    httpStatus: null,
    durationMs: 1,
    answer: null,
  })));
}

for (
  const [when, analyses] of [
    ["the statistics know it", "after"],
    ["they were made before it came", "before"],
    ["there are none", "never"],
  ] as const
) {
  test(`what waits for a retry costs a claim nothing, nor does what is behind it, where ${when}`, async () => {
    await using database = await testDatabase({ unused: true });
    const sql = database.connect({ max: 1 });
    const merchants = [await addMerchant(sql), await addMerchant(sql), await addMerchant(sql)];
    const [busy = "", ...others] = merchants;
    await sql`UPDATE book.merchant SET webhook_url = 'https://shop.example/', webhook_enabled = true`;
    for (const merchantId of others) await addEvents(sql, merchantId, 20);
    if (analyses === "before") await sql`VACUUM ANALYZE book.outbox`;
    await addWaiting(sql, busy, 2_000);
    if (analyses === "after") await sql`VACUUM ANALYZE book.outbox`;
    await untilForgotten(sql);
    // once for the plan, and for what is dead in the index
    for (let i = 0; i < 2; i++) await claimAll(sql, merchants, 1);
    const { events, pages } = await claim(sql, merchants, 5);
    assertEquals(events, 10);
    // passed over, it would be a page and more for each of the 4,000
    assertLess(pages, 400);
  });
}

test("what was sent again and waits behind a retry costs a claim nothing", async () => {
  await using database = await testDatabase();
  const sql = database.connect({ max: 1 });
  const merchantId = await addMerchant(sql, { webhookUrl: "https://shop.example/" });
  await addWaiting(sql, merchantId, 2_000, 1);
  await untilForgotten(sql);
  for (let i = 0; i < 2; i++) await claimAll(sql, [merchantId], 1);
  const { events, pages } = await claim(sql, [merchantId], 5);
  assertEquals(events, 0);
  // passed over, it would be three pages for each of the 2,000
  assertLess(pages, 400);
});

test("of many retries that are due a claim reads about as many as it takes", async () => {
  await using database = await testDatabase();
  const sql = database.connect({ max: 1 });
  const merchantId = await addMerchant(sql, { webhookUrl: "https://shop.example/" });
  await addWaiting(sql, merchantId, 2_000);
  await sql`UPDATE book.outbox SET next_attempt_at = next_attempt_at - interval '30 seconds'`;
  await untilForgotten(sql);
  for (let i = 0; i < 2; i++) await claimAll(sql, [merchantId], 1);
  const { events, pages } = await claim(sql, [merchantId], 40);
  assertEquals(events, 40);
  // three pages or so for each, and for what is claimed already
  assertLess(pages, 1_000);
});
