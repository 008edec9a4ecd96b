import { assert, assertEquals } from "@std/assert";
import postgres from "postgres";
import { newId } from "../../actors/runtime/ids.ts";
import type { AnySql, Sql } from "../../ledger/database/connect.ts";
import { findOwnTransactions, recordOutcomes } from "../../ledger/watcher/record_outcomes.ts";
import { amount } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** Signed sweeps of one transfer each, from addresses of their own. @returns their transactions' ids */
async function addSweeps(sql: Sql, count: number): Promise<readonly string[]> {
  const [row] = await sql<{ from: number }[]>`SELECT count(*)::int AS from FROM hub.address`;
  const numbers = Array.from({ length: count }, (_, n) => n + (row?.from ?? 0));
  const ids = numbers.map(() => newId("out"));
  const txids = numbers.map((n) => String(n).padStart(64, "0"));
  await sql`
    INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
    SELECT 'T' || n, 'TRX', 'mer_test', 'adr_' || n, n FROM unnest(${numbers}::int[]) AS f(n)`;
  await sql`
    INSERT INTO book.sweep_address (network, address, currency, merchant_id)
    SELECT 'TRX', 'T' || n, 'USDT', 'mer_test' FROM unnest(${numbers}::int[]) AS f(n)`;
  await sql`
    INSERT INTO book.outgoing
      (id, merchant_id, kind, network, currency, amount, wallet, destination, status, attempts, created_at, updated_at)
    SELECT id, 'mer_platform', 'sweep', 'TRX', 'USDT', 5, n::text, 'hot-wallet', 'signed', 1, now(), now()
    FROM unnest(${ids}::text[], ${numbers}::int[]) AS f(id, n)`;
  await sql`
    INSERT INTO book.attempt (outgoing_id, number, merchant_id, network, txid, bytes, expires_at, dies_after, created_at, fee_limit)
    SELECT id, 1, 'mer_platform', 'TRX', txid, '{}', now(), extract(epoch FROM now()) * 1000, now(), 1
    FROM unnest(${ids}::text[], ${txids}::text[]) AS f(id, txid)`;
  await sql`
    INSERT INTO book.sweep_item (merchant_id, network, txid, log_index, address, currency, amount, height)
    SELECT 'mer_test', 'TRX', 'paid by ' || n, 0, 'T' || n, 'USDT', 5, 1 FROM unnest(${numbers}::int[]) AS f(n)`;
  await sql`
    UPDATE book.sweep_item i SET outgoing_id = f.id
    FROM unnest(${ids}::text[], ${numbers}::int[]) AS f(id, n) WHERE i.txid = 'paid by ' || n`;
  return txids;
}

/** Ends sweeps, every tenth on the chain without success. */
async function endSweeps(sql: Sql, txids: readonly string[]): Promise<void> {
  const own = await findOwnTransactions(sql, "TRX", txids);
  assertEquals(own.length, txids.length);
  await recordOutcomes(
    sql,
    "TRX",
    own.map((one, n) => ({
      own: one,
      ...n % 10 === 0 ? { result: "failed", reason: "OUT_OF_ENERGY" } : {
        result: "paid",
        reason: null,
      },
      height: 9,
      fee: amount("6"),
    })),
  );
}

test("the end of many sweeps takes no more statements than the end of a few", async () => {
  await using database = await testDatabase();
  let statements = 0;
  const counting: Sql = postgres(database.url, { max: 1, debug: () => statements++ });
  try {
    const counts: number[] = [];
    for (const size of [20, 200]) {
      const txids = await addSweeps(database.sql, size);
      await counting`SELECT 1`;
      statements = 0;
      await endSweeps(counting, txids);
      counts.push(statements);
    }
    assertEquals(counts[1], counts[0]);
  } finally {
    await counting.end();
  }
  const rows = await database.sql<{ line: string }[]>`
    SELECT o.status || ' ' || a.outcome || ' ' || coalesce(o.reason, '-') || ' ' || coalesce(a.reason, '-')
      || ' ' || i.done || ' ' || (i.outgoing_id IS NULL) || ' ' || t.touched || ' ' || count(*) AS line
    FROM book.outgoing o JOIN book.attempt a ON a.outgoing_id = o.id
    JOIN book.sweep_item i ON i.address = 'T' || o.wallet
    JOIN book.sweep_address t ON t.address = 'T' || o.wallet
    GROUP BY o.status, a.outcome, o.reason, a.reason, i.done, i.outgoing_id IS NULL, t.touched ORDER BY 1`;
  assertEquals(rows.map(({ line }) => line), [
    "final paid - - true false 1 198",
    "void failed failed: OUT_OF_ENERGY OUT_OF_ENERGY false true 1 22",
  ]);
});

/** Rows of a table that this transaction has read so far. */
async function rowsRead(tx: AnySql, table: string): Promise<number> {
  const [row] = await tx<{ n: number }[]>`
    SELECT (seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS n FROM pg_stat_xact_user_tables
    WHERE schemaname = 'book' AND relname = ${table}`;
  assert(row !== undefined);
  return row.n;
}

test("a change of one transfer to be swept looks at its own sweep, not at all there ever were", async () => {
  await using database = await testDatabase();
  await addSweeps(database.sql, 300);
  // a connection of its own: these counts are told to others only now and then
  await database.connect({ max: 1 }).begin(async (tx) => {
    await tx`UPDATE book.sweep_item SET done = true WHERE txid = 'paid by 7'`;
    for (const table of ["outgoing", "attempt"]) {
      const read = await rowsRead(tx, table);
      assert(read < 10, `${read} rows of ${table} were read`);
    }
  });
});
