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
  assertEquals(rows[0], { from: "", before: many, numbers: null, weight: 1 });
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
  const looks: Promise<{ at: number; oldest: number | null }>[] = [];
  await checkBooks(sql, "full", {
    sliceRows: SLICE_ROWS,
    onProgress: () => {
      const look = async () => {
        const [row] = await other<{ at: string; oldest: string | null }[]>`
          SELECT extract(epoch FROM clock_timestamp())::text AS at,
            extract(epoch FROM min(xact_start))::text AS oldest
          FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_xmin IS NOT NULL`;
        assert(row !== undefined);
        return { at: Number(row.at), oldest: row.oldest === null ? null : Number(row.oldest) };
      };
      looks.push(look());
    },
  });
  const seen = await Promise.all(looks);
  assert(seen.length > 30, String(seen.length));
  // how many parts began while the oldest snapshot of a look was held
  const held = seen.map(({ at, oldest }) =>
    seen.filter((other) => oldest !== null && other.at > oldest && other.at <= at).length
  );
  assert(Math.max(...held) < seen.length / 2, `a snapshot was held for ${Math.max(...held)} parts`);
});

test("a charge for one payment that stands for another's is told, in whatever parts both lie", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const [, many] = await manyRows(sql);
  await sql`ALTER TABLE book.charge DISABLE TRIGGER USER`;
  await sql`
    UPDATE book.charge c SET payment_id = first.payment_id
    FROM (SELECT DISTINCT ON (type) * FROM book.charge WHERE merchant_id = ${many} ORDER BY type, seq) first
    WHERE c.merchant_id = ${many} AND first.type = 'NETWORK_FEE'
      AND c.seq = (SELECT max(seq) FROM book.charge WHERE merchant_id = ${many} AND type = 'NETWORK_FEE')`;
  const results = await checkBooks(sql, "full", { sliceRows: SLICE_ROWS });
  assertEquals(faults(results), ["charges add up to what was posted for them: 1"]);
  const [difference] = results.flatMap(({ differences }) => differences);
  assert(difference?.subject.startsWith(`NETWORK_FEE of ${many} `), difference?.subject);
  assert(difference?.detail.endsWith(", for other payments"), difference?.detail);
});

const MARGINS = "margins per day are those of the margins";

/** Makes merchants with a part each and a wrong margin; reading that of all but the last takes seconds. */
async function slowMerchants(sql: Sql, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let made = 0; made < count; made++) ids.push(await addMerchant(sql));
  ids.sort();
  await sql`UPDATE book.account SET transaction_seq = ${SLICE_ROWS} WHERE merchant_id IN ${
    sql(ids)
  }`;
  await sql`
    INSERT INTO book.margin_day (merchant_id, beneficiary, day, currency, network, events, volume, fee, earned, reversed)
    SELECT id, id, '2026-01-01', 'USDT', 'TRX', 1, 1, 1, 1, 0 FROM unnest(${ids}::text[]) id`;
  await sql`ALTER TABLE book.margin_day RENAME TO kept_margin_day`;
  await sql.unsafe(`CREATE VIEW book.margin_day AS SELECT * FROM book.kept_margin_day
    WHERE CASE WHEN merchant_id <> '${ids.at(-1)}' THEN pg_sleep(5) IS NOT NULL ELSE true END`);
  return ids;
}

test("a rule goes on behind merchants whose parts take too long, and names them", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const ids = await slowMerchants(sql, 5);
  const options = { sliceRows: SLICE_ROWS, sliceMs: 300, firstPart: 0 };
  const result = (await checkBooks(sql, "full", options)).find(({ rule }) => rule === MARGINS);
  assertEquals(result?.differences.map(({ subject }) => subject.split(" ")[0]), [ids.at(-1)]);
  assertEquals(
    result?.unchecked,
    `of its 5 parts 4 took longer than a statement may: the first to before ${ids.at(-1)}`,
  );
});

test("a rule that has no time for all of its parts begins with others the next time", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const ids = await slowMerchants(sql, 5);
  const told = async (firstPart: number) => {
    const options = { sliceRows: SLICE_ROWS, sliceMs: 300, ruleMs: 0, firstPart };
    const results = await checkBooks(sql, "full", options);
    return results.find(({ rule }) => rule === MARGINS);
  };
  const begun = await told(1 / 5);
  assertEquals(begun?.differences, []);
  assertEquals(
    begun?.unchecked,
    "of its 5 parts 1 took longer than a statement may and 4 were not tried for want of time: the first to the last",
  );
  const later = await told(4 / 5);
  assertEquals(later?.differences.length, 1);
  assertEquals(
    later?.unchecked,
    `of its 5 parts 4 were not tried for want of time: the first to before ${ids.at(-1)}`,
  );
});

test("rules whose parts are all held up are left out, and the others are compared", async () => {
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
  const results = await checkBooks(sql, "full", {
    sliceRows: SLICE_ROWS,
    sliceMs: 300,
    ruleMs: 1_000,
  });
  assert(performance.now() - begun < 15_000);
  held.resolve();
  await holding;
  assertEquals(
    results.filter(({ unchecked }) => unchecked !== null).map(({ rule }) => rule),
    ["sums of large buckets are those of their buckets", MARGINS],
  );
  assertEquals(results.flatMap(({ differences }) => differences), []);
});
