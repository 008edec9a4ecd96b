import { assertEquals } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import { noteUnproven } from "../../ledger/treasury/note_unproven.ts";
import { returnQueued } from "../../ledger/treasury/return_queued.ts";
import { addMerchant, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const WAYS = [
  {
    what: "transfers go back to the queue in the order in which they are signed",
    from: "queued",
    to: "signed",
    take: (sql: Sql, ids: readonly string[]) => returnQueued(sql, ids, "for a reason", 1_000),
  },
  {
    what: "what transfers wait for is noted in the order in which they are buried",
    from: "signed",
    to: "dead",
    take: (sql: Sql, ids: readonly string[]) =>
      noteUnproven(sql, new Map(ids.map((id) => [id, "for a reason"]))),
  },
];

for (const { what, from, to, take } of WAYS) {
  test(`${what}, so that two nodes never wait for each other`, async () => {
    await using database = await testDatabase();
    // rows are found as they lie, not by an index that sorts them by chance
    await database.sql.unsafe(`DO $$ BEGIN
      EXECUTE format('ALTER DATABASE %I SET enable_indexscan = off', current_database());
      EXECUTE format('ALTER DATABASE %I SET enable_bitmapscan = off', current_database());
    END $$`);
    const sql = database.connect({ max: 3 });
    const merchantId = await addMerchant(sql);
    const ids = ["out_4", "out_3", "out_2", "out_1"];
    for (const id of ids) {
      await sql`
        INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
        VALUES (${id}, ${merchantId}, 'payout', ${`wd_${id}`}, 'TRX', 'USDT', 1, 'T', ${from}, now(), now())`;
    }
    const taken = await sql.begin(async (tx) => {
      // the other node is at the oldest one
      await tx`SELECT FROM book.outgoing WHERE id = 'out_1' FOR UPDATE`;
      const done = take(sql, ids);
      await until(async () => {
        const [row] = await sql<{ waiting: number }[]>`
          SELECT count(*)::int AS waiting FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'
            AND backend_type = 'client backend'`;
        return row?.waiting === 1;
      });
      // and goes on with the others, which nobody may hold who waits for the first
      const rows = await tx`
        SELECT id FROM book.outgoing WHERE id = ANY (${ids}::text[]) ORDER BY id FOR UPDATE NOWAIT`;
      assertEquals(rows.length, 4);
      await tx`UPDATE book.outgoing SET status = ${to} WHERE id IN ('out_1', 'out_3')`;
      // in an object: a bare promise would be waited for inside the transaction
      return { done };
    });
    await taken.done;
    const rows = await sql<{ status: string; reason: string | null }[]>`
      SELECT status, reason FROM book.outgoing ORDER BY id`;
    const [gone, noted] = [`${to}: null`, `${from}: for a reason`];
    assertEquals(rows.map((row) => `${row.status}: ${row.reason}`), [gone, noted, gone, noted]);
  });
}
