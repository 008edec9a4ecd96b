import { assertEquals } from "@std/assert";
import { readCommitments } from "../../ledger/treasury/hot_wallet.ts";
import { sumWaiting } from "../../ledger/treasury/queue.ts";
import { amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("what the treasury reads at every look does not grow with what has ended", async () => {
  // one connection: the scans of its own statements are counted at once
  await using database = await testDatabase({ max: 1 });
  const { sql } = database;
  await sql`
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
    SELECT 'out_' || lpad(n::text, 6, '0'), 'mer_1', 'payout', 'wd_' || n, 'TRX', 'USDT', 10, 'x',
      CASE n WHEN 1 THEN 'queued' WHEN 2 THEN 'signed' ELSE 'final' END, now(), now()
    FROM generate_series(1, 20000) n`;
  await sql`ANALYZE book.outgoing`;
  const wholeReads = async () => {
    await sql`SELECT pg_stat_force_next_flush()`;
    const [row] = await sql<{ n: number }[]>`
      SELECT seq_scan::int AS n FROM pg_stat_user_tables
      WHERE schemaname = 'book' AND relname = 'outgoing'`;
    return row?.n;
  };
  const before = await wholeReads();
  const { assets } = await readCommitments(sql, "TRX");
  const waiting = await sumWaiting(sql, "TRX");
  assertEquals(assets.get("USDT"), { queued: amount("10"), signed: amount("10") });
  assertEquals(waiting.map(({ status, count }) => [status, count]), [["queued", 1], ["signed", 1]]);
  assertEquals(await wholeReads(), before);
});
