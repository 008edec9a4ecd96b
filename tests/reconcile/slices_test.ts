/**
 * A full comparison is made of parts: each in a short snapshot of its own, together all of the books.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import {
  type BookResult,
  checkBooks,
  type CheckProgress,
} from "../../ledger/reconcile/check_books.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { cutBooks } from "../../ledger/reconcile/slices.ts";
import { addMerchant, amount, fund, openJournal, reserveCommand } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** Rows of a part in these tests. */
const SLICE_ROWS = 250;

/** Makes a number of withdrawals of a merchant that has money for them. */
async function withdraw(sql: Sql, merchantId: string, count: number): Promise<void> {
  const journal = openJournal(sql);
  for (let made = 0; made < count; made += 100) {
    const commands = Array.from(
      { length: Math.min(100, count - made) },
      () => reserveCommand({ amount: amount("1") }),
    );
    const outcomes = await Promise.all(
      commands.map((command) => journal.ask(merchantId, command, 60_000)),
    );
    assertEquals(outcomes.filter(({ kind }) => kind !== "done"), []);
  }
  await journal.stop(1_000);
}

/** Books of a merchant with a row, one with four parts of them, and two with a few. */
async function manyRows(sql: Sql): Promise<readonly [string, string, string, string]> {
  const journal = openJournal(sql);
  const [a, b, c, d] = [
    await addMerchant(sql),
    await addMerchant(sql, { rate: "0.01" }),
    await addMerchant(sql),
    await addMerchant(sql),
  ];
  for (const id of [a, b, c, d]) await fund(sql, journal, id, "1000000");
  await journal.stop(1_000);
  await withdraw(sql, b, 800);
  await withdraw(sql, c, 20);
  await withdraw(sql, d, 20);
  return [a, b, c, d];
}

function faults(results: readonly BookResult[]): string[] {
  return results.filter(({ differences, unchecked }) =>
    differences.length > 0 || unchecked !== null
  )
    .map(({ rule, differences, unchecked }) => `${rule}: ${unchecked ?? differences.length}`);
}

test("the parts of a rule are all of the books, and what is wrong in any of them is told", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const [first, many] = await manyRows(sql);
  const rows = await cutBooks(sql, "rows", SLICE_ROWS);
  assert(rows.filter(({ from, numbers }) => from === many && numbers !== null).length >= 4);
  assertEquals(rows[0], { from: "", before: many, numbers: null });
  assertEquals(rows.at(-1)?.before, null);
  const progress: CheckProgress[] = [];
  const options = {
    sliceRows: SLICE_ROWS,
    onProgress: (one: CheckProgress) => progress.push(one),
  };
  assertEquals(faults(await checkBooks(sql, "full", options)), []);
  assert(progress.some(({ done, parts }) => done === 4 && parts > 5), "progress is told by part");
  await sql`ALTER TABLE book.outgoing DISABLE TRIGGER USER`;
  await sql`UPDATE book.transaction SET fee = fee, effect = effect - 1 WHERE merchant_id = ${many} AND seq IN (1, 250, 251, 801)`;
  await sql`UPDATE book.transaction SET effect = effect - 1 WHERE merchant_id = ${first}`;
  await sql`UPDATE book.list_bucket SET count = count + 1 WHERE merchant_id = ${many} AND list = 'withdrawal'`;
  await sql`UPDATE book.outgoing SET destination = 'elsewhere' WHERE payment_id IN (
    SELECT id FROM book.withdrawal WHERE seq = 1 OR seq = 700)`;
  assertEquals(faults(await checkBooks(sql, "full", options)), [
    "statements add up to what is available: 2",
    "withdrawals and their payouts tell the same story: 4",
    "lines of the statement are those of their payments: 5",
    "kept counts and sums are those of the lists: 6",
  ]);
});

test("parts that are compared while merchants work differ by nothing that was done in between", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const [a, b, c, d] = await manyRows(sql);
  let isOver = false;
  const working = (async () => {
    for (let turn = 0; !isOver; turn++) {
      await Promise.all([a, b, c, d].map((id) => withdraw(sql, id, 7)));
    }
  })();
  try {
    for (let turn = 0; turn < 3; turn++) {
      assertEquals(faults(await checkBooks(sql, "full", { sliceRows: SLICE_ROWS })), []);
    }
  } finally {
    isOver = true;
    await working;
  }
});

test("a comparison keeps no snapshot from part to part, so that dead rows can be vacuumed meanwhile", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await manyRows(sql);
  const other = database.connect({ max: 1 });
  const horizons: Promise<string>[] = [];
  await checkBooks(sql, "full", {
    sliceRows: SLICE_ROWS,
    onProgress: () => {
      const horizon = async () => {
        const [row] = await other<{ xmin: string }[]>`
          INSERT INTO hub.job (name, due_at) VALUES (${crypto.randomUUID()}, now())
          RETURNING pg_snapshot_xmin(pg_current_snapshot())::text AS xmin`;
        const [oldest] = await other<{ age: string }[]>`
          SELECT coalesce(max(age(backend_xmin)), 0)::text AS age FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid()`;
        assert(row !== undefined);
        return oldest?.age ?? "";
      };
      horizons.push(horizon());
    },
  });
  const ages = (await Promise.all(horizons)).map(Number);
  assert(ages.length > 30, String(ages.length));
  assert(Math.max(...ages) < ages.length / 2, `snapshots were ${Math.max(...ages)} commits old`);
});

test("a rule whose parts take too long is left out after three of them, and the others are compared", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await manyRows(sql);
  const holder = database.connect({ max: 2 });
  const held = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holding = holder.begin(async (tx) => {
    await tx`LOCK TABLE book.margin, book.list_large_bucket`;
    locked.resolve();
    await held.promise;
  });
  await locked.promise;
  const begun = performance.now();
  const results = await checkBooks(sql, "full", { sliceRows: SLICE_ROWS, sliceMs: 300 });
  assert(performance.now() - begun < 15_000);
  held.resolve();
  await holding;
  const parts = (await cutBooks(sql, "merchants", SLICE_ROWS)).length;
  const text = `3 of its ${parts} parts took longer than a statement may`;
  assertEquals(
    faults(results),
    [
      `sums of large buckets are those of their buckets: ${text}`,
      `margins per day are those of the margins: ${text}`,
    ].map((line) => parts > 3 ? `${line}; the rest was not tried` : line),
  );
});
