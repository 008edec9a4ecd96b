import { assertEquals } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import { askToCancel } from "../../ledger/lanes/cancel.ts";
import { addMerchant, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** Looks at the transfers until now, and rows that were read of them without an index. */
async function looksAt(sql: Sql) {
  const [row] = await sql<{ looks: number; rows: number }[]>`
    SELECT (seq_scan + idx_scan)::int AS looks, seq_tup_read::int AS rows FROM pg_stat_user_tables
    WHERE (schemaname, relname) = ('book', 'outgoing')`;
  return row ?? { looks: 0, rows: 0 };
}

test("a transfer that is taken out of use is found by keys, however many have ever left", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await addMerchant(sql);
  await sql`
    INSERT INTO book.outgoing
      (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
    SELECT 'out_' || n, ${merchantId}, 'payout', 'wd_' || n, 'ETH', 'USDT', 5, 'customer', 'final', now(), now()
    FROM generate_series(1, 5000) n`;
  await sql`ANALYZE book.outgoing`;
  const audit = {
    id: "aud_1",
    merchantId: null,
    actor: "ana",
    action: "treasury.cancel",
    subject: "x",
    before: null,
    after: null,
    requestId: "req_1",
  };
  const before = await looksAt(sql);
  const asking = database.connect({ max: 1 });
  assertEquals(await askToCancel(asking, "out_4000", audit), "not_numbered");
  assertEquals(await askToCancel(asking, "wd_none", audit), "unknown");
  // a session tells its figures when it ends
  await asking.end();
  await until(async () => (await looksAt(sql)).looks >= before.looks + 2);
  assertEquals((await looksAt(sql)).rows - before.rows, 0);
});
