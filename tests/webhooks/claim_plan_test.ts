import { assertEquals, assertLess } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import { addMerchant } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

async function addEvents(sql: Sql, merchantId: string, count: number): Promise<void> {
  await sql`
    INSERT INTO book.outbox (id, merchant_id, payment_id, type, payload, status, created_at)
    SELECT 'evt_' || e, ${merchantId}, 'dep_' || e, 'deposit.confirmed', '{}', 'PENDING', now()
    FROM (SELECT gen_random_uuid()::text AS e FROM generate_series(1, ${count}::int)) e`;
}

/** Claims with EXPLAIN; answers pages read and events claimed. */
async function claim(sql: Sql, merchantId: string, room: number) {
  const [row] = await sql.unsafe(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)
     SELECT * FROM book.claim_events($1::text[], $2::int[], 'node/1', 5000, 30000)`,
    [[merchantId], [room]],
  );
  const plan = row?.["QUERY PLAN"][0].Plan;
  return { pages: Number(plan["Shared Hit Blocks"]), events: Number(plan["Actual Rows"]) };
}

async function claimAll(sql: Sql, merchants: readonly string[], room: number): Promise<void> {
  const rooms = merchants.map(() => room);
  await sql`
    SELECT FROM book.claim_events(${merchants}::text[], ${rooms}::int[], 'node/1', 5000, 30000)`;
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
  for (let i = 0; i < 8; i++) await claimAll(sql, merchants, 1);
  const { events, pages } = await claim(sql, busy, 10);
  assertEquals(events, 10);
  // sorted, it would be three pages for each of the 5,000
  assertLess(pages, 1_000);
});
