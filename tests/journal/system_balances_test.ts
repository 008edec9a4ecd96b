import { assertEquals, assertRejects } from "@std/assert";
import { foldSystemBalances } from "../../ledger/journal/fold_system_balances.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { addMerchant, amount, booksFaults, fund } from "../support/books.ts";
import { openJournal, reserveCommand } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

async function totals(sql: Sql) {
  return await sql<{ account: string; balance: string }[]>`
    SELECT account, trim_scale(balance)::text AS balance FROM book.system_total
    WHERE balance <> 0 ORDER BY account`;
}

async function deltas(sql: Sql): Promise<number> {
  return (await sql`SELECT 1 FROM book.system_delta`).length;
}

test("rows of the system's accounts that a session holds keep no merchant waiting, and are told", async () => {
  await using database = await testDatabase({ max: 12 });
  const { sql } = database;
  const journal = openJournal(sql);
  const merchants = await Promise.all([1, 2, 3].map(() => addMerchant(sql)));
  const payOut = async () => {
    for (const merchantId of merchants) {
      const command = reserveCommand({ amount: amount("10") });
      assertEquals((await journal.ask(merchantId, command, 60_000)).kind, "done");
    }
  };
  for (const merchantId of merchants) await fund(sql, journal, merchantId, "100");
  await payOut();
  const isAdded = await foldSystemBalances(sql) > 0;
  assertEquals([isAdded, await deltas(sql)], [true, 0]);

  const [held, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = database.connect({ max: 1 }).begin(async (tx) => {
    await tx`SELECT 1 FROM book.system_balance FOR UPDATE`;
    held.resolve();
    await free.promise;
  });
  await held.promise;
  await payOut();
  const before = await totals(sql);
  await assertRejects(() => foldSystemBalances(sql), Error, "another transaction holds");
  assertEquals(await deltas(sql) > 0, true);
  assertEquals(await booksFaults(sql), []);

  free.resolve();
  await holding;
  await foldSystemBalances(sql);
  assertEquals(await deltas(sql), 0);
  assertEquals(await totals(sql), before);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("several nodes add up the system's accounts at once, and each posting counts once", async () => {
  await using database = await testDatabase({ max: 12 });
  const { sql } = database;
  await sql`
    INSERT INTO book.system_delta (account, currency, network, amount)
    SELECT 'world', 'USDT', CASE WHEN n % 2 = 0 THEN 'TRX' ELSE 'TRX_SHASTA' END, -1
    FROM generate_series(1, 4_000) n`;
  while (await deltas(sql) > 0) {
    await Promise.all(Array.from({ length: 4 }, () => foldSystemBalances(sql)));
  }
  const rows = await sql`SELECT network, trim_scale(balance)::text AS balance
    FROM book.system_balance ORDER BY network`;
  assertEquals(rows.map(({ network, balance }) => [network, balance]), [
    ["TRX", "-2000"],
    ["TRX_SHASTA", "-2000"],
  ]);
});
