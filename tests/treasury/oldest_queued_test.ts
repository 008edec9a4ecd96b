import { assert, assertEquals } from "@std/assert";
import { readQueuedIds } from "../../ledger/failover/holds.ts";
import { readOldestQueued } from "../../ledger/treasury/queue.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { rowsRead } from "../support/rows_read.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

async function add(sql: Sql, status: string, from: number, count: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`
      INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
      SELECT 'out_' || lpad(n::text, 8, '0'), 'mer_' || n % 20, 'payout', 'wd_' || n, 'TRX', 'USDT', 1, 'x', ${status},
        to_timestamp(1700000000 + n), now()
      FROM generate_series(${from}::int, ${from + count - 1}::int) n`;
  });
}

test("what is queued is looked up without what has left before, however much is queued", async () => {
  await using database = await testDatabase({ max: 1, unused: true });
  const { sql } = database;
  await add(sql, "final", 0, 20_000);
  assertEquals(await readOldestQueued(sql, "TRX"), null);
  await add(sql, "queued", 50_000, 500);
  await sql`ANALYZE book.outgoing`;
  const oldest = await rowsRead(sql, "book.outgoing", async () => {
    assertEquals(await readOldestQueued(sql, "TRX"), 1_700_050_000_000);
  });
  // a few of each of 20 merchants
  assert(oldest < 200, `${oldest} rows`);
  const ids = await rowsRead(sql, "book.outgoing", async () => {
    const first = await readQueuedIds(sql, "TRX", "", 10);
    assertEquals(first.map(({ id }) => id).slice(0, 2), ["out_00050000", "out_00050001"]);
    const next = await readQueuedIds(sql, "TRX", first.at(-1)!.id, 10);
    assertEquals([next[0]?.id, next.length], ["out_00050010", 10]);
  });
  assert(ids < 4_000, `${ids} rows`);
});
