/**
 * Years of withdrawals, inserted by SQL: the rows that a withdrawal leaves in the ledger when it was
 * accepted and has ended. They are copies of what the journal wrote for one, so that a column or a fee
 * that changes is followed. Half of them are the hot merchant's, the others are spread evenly.
 *
 * Events, inbox rows and attempts are left out: they are pruned, or no accepted withdrawal writes them.
 *
 * @module
 */

import { newId } from "../../../actors/runtime/ids.ts";
import type { Sql } from "../../../ledger/database/connect.ts";
import { sumLargeBuckets } from "../../../ledger/lists/list_query.ts";
import { amount, openJournal, reserveCommand } from "../../support/books.ts";

/** Of this many withdrawals of a merchant one failed and was refunded. */
export const FAILED_EVERY = 97;
/** Tables that are filled; the largest first, as two are filled at a time. */
export const FILLED_TABLES = ["entry", "charge", "withdrawal", "transaction", "outgoing"] as const;
type FilledTable = (typeof FILLED_TABLES)[number];

/** Time from the oldest row to the newest, which is {@linkcode NEWEST_S} old: a year at most. */
const SPAN_S = 31_536_000;
const STEP_S = 8.64;
const NEWEST_S = 60;

/** SQL that takes the place of a column's value in the copies; `n` is the copy, `o` its original. */
type Overrides = Readonly<Record<string, string>>;

/** Merchants as `seed` made them. */
interface Merchants {
  readonly hotMerchants: readonly string[];
  readonly spreadMerchants: readonly string[];
}

/**
 * Fills a seeded database with withdrawals.
 *
 * @param sql a pool without a bound on statements; two of its connections are used at a time
 * @param rows how many withdrawals
 */
export async function fillWithdrawals(sql: Sql, merchants: Merchants, rows: number): Promise<void> {
  const [hot = "", ...others] = [...merchants.hotMerchants, ...merchants.spreadMerchants];
  const original = await withdrawOnce(sql, hot);
  await sql`
    CREATE UNLOGGED TABLE public.filled_merchant AS
    SELECT m.n - 1 AS n, a.merchant_id, a.withdrawal_seq, a.transaction_seq, a.charge_seq
    FROM unnest(${[hot, ...others]}::text[]) WITH ORDINALITY AS m(merchant_id, n)
    JOIN book.account a ON a.merchant_id = m.merchant_id`;
  await sql`ANALYZE public.filled_merchant`;
  // every table is filled by a statement of its own, and all by the same times and ids
  const copies = copiesOf(rows, others.length, new Date(Date.now() - NEWEST_S * 1_000));
  await Promise.all(
    FILLED_TABLES.map((table) => copyRows(sql, table, original, copies)),
  );
  await addUp(sql, original, copies);
  await countLists(sql);
  while (await sumLargeBuckets(sql) > 0);
  await sql`DROP TABLE public.filled_merchant`;
  const changed = [...FILLED_TABLES, "list_bucket", "list_large_bucket", "account", "balance"];
  for (const table of changed) await sql.unsafe(`VACUUM ANALYZE book.${table}`);
}

/** One withdrawal through the journal, whose rows are the originals. */
async function withdrawOnce(sql: Sql, merchantId: string): Promise<string> {
  const journal = openJournal(sql);
  const command = reserveCommand({ amount: amount("10.25"), referenceId: newId("evt") });
  const outcome = await journal.ask(merchantId, command, 60_000);
  await journal.stop(1_000);
  if (outcome.kind !== "done") throw new Error("Cannot fill the tables as nothing was accepted");
  return command.withdrawalId;
}

/** SQL of the copies `n`, in the order of time: even ones are the hot merchant's. */
function copiesOf(rows: number, spread: number, newest: Date): string {
  const stepMs = Math.round(Math.min(STEP_S, SPAN_S / rows) * 1_000);
  const oldest = `'${new Date(newest.getTime() - stepMs * rows).toISOString()}'::timestamptz`;
  return `(
    SELECT c.i, c.at, m.merchant_id, c.place, c.place % ${FAILED_EVERY} = 0 AS failed,
      m.withdrawal_seq + c.place AS seq, m.transaction_seq + c.place AS line,
      m.charge_seq + 2 * (c.place - 1) + 2 * ((c.place - 1) / ${FAILED_EVERY}) AS charges,
      '_' || overlay(lpad(to_hex((extract(epoch FROM c.at) * 1000)::bigint), 12, '0') placing '-' from 9 for 0)
        || '-7000-8000-' || lpad(to_hex(c.i), 12, '0') AS id
    FROM (
      SELECT i, ${oldest} + interval '${stepMs} ms' * i AS at,
        CASE WHEN i % 2 = 0 THEN 0 ELSE 1 + (i / 2) % ${spread} END AS n,
        CASE WHEN i % 2 = 0 THEN i / 2 ELSE 1 + i / 2 / ${spread} END AS place
      FROM generate_series(1, ${rows}) i) c
    JOIN public.filled_merchant m ON m.n = c.n)`;
}

/** A payment's originals in each table: `o`, and which copies have them (`ended`). */
const ORIGINALS: Readonly<Record<FilledTable, (where: string) => string>> = {
  withdrawal: (where) => `SELECT *, 'any' AS ended FROM book.withdrawal WHERE ${where}`,
  transaction: (where) => `SELECT *, 'any' AS ended FROM book.transaction WHERE ${where}`,
  outgoing: (where) => `SELECT *, 'any' AS ended FROM book.outgoing WHERE ${where}`,
  charge: (where) => {
    const own = `SELECT *, row_number() OVER (ORDER BY seq) AS nth FROM book.charge WHERE ${where}`;
    return `SELECT x.*, e.ended FROM (${own}) x CROSS JOIN (VALUES ('any'), ('failed')) e(ended)`;
  },
  entry: (where) =>
    `SELECT x.*, e.ended FROM book.entry x CROSS JOIN (VALUES ('any'), ('paid'), ('failed')) e(ended)
    WHERE x.${where} AND (e.ended <> 'paid' OR x.leg = 'reserve')`,
};

const TXID = "encode(sha256(int8send(n.i)), 'hex')";
const STATUS = "CASE WHEN n.failed THEN 'FAILED' ELSE 'CONFIRMED' END";

const OVERRIDES: Readonly<Record<FilledTable, Overrides>> = {
  withdrawal: {
    id: "'wd' || n.id",
    seq: "n.seq",
    transaction_seq: "n.line",
    outgoing_id: "'out' || n.id",
    reference_id: "'order-' || n.i",
    status: STATUS,
    reason: "CASE WHEN n.failed THEN 'payout failed' END",
    txid: `CASE WHEN NOT n.failed THEN ${TXID} END`,
    processed_at: "n.at + interval '1 minute'",
  },
  transaction: {
    seq: "n.line",
    id: "'txn' || n.id",
    payment_id: "'wd' || n.id",
    status: STATUS,
    effect: "CASE WHEN n.failed THEN 0 ELSE o.effect END",
    txid: `CASE WHEN NOT n.failed THEN ${TXID} END`,
    height: "70000000 + n.i",
    reference_id: "'order-' || n.i",
  },
  outgoing: {
    id: "'out' || n.id",
    payment_id: "'wd' || n.id",
    status: "CASE WHEN n.failed THEN 'void' ELSE 'final' END",
    attempts: "1",
    updated_at: "n.at + interval '1 minute'",
  },
  entry: {
    payment_id: "'wd' || n.id",
    leg: `CASE WHEN o.ended = 'any' THEN o.leg WHEN o.ended = 'paid' THEN 'paid'
      WHEN o.leg = 'reserve' THEN 'refund' ELSE o.leg || '_refund' END`,
    from_account: "CASE WHEN o.ended = 'any' THEN o.from_account ELSE o.to_account END",
    to_account: `CASE WHEN o.ended = 'any' THEN o.to_account WHEN o.ended = 'paid' THEN 'world'
      ELSE o.from_account END`,
  },
  charge: {
    seq: "n.charges + o.nth + CASE WHEN o.ended = 'failed' THEN 2 ELSE 0 END",
    id: "'chg' || left(n.id, -1) || CASE WHEN o.ended = 'failed' THEN o.nth + 2 ELSE o.nth END",
    payment_id: "'wd' || n.id",
    type: "CASE WHEN o.ended = 'failed' THEN 'REVERSAL' ELSE o.type END",
    amount: "CASE WHEN o.ended = 'failed' THEN - o.amount ELSE o.amount END",
  },
};

async function copyRows(
  sql: Sql,
  table: FilledTable,
  original: string,
  copies: string,
): Promise<void> {
  const columns = await sql<{ name: string }[]>`
    SELECT attname AS name FROM pg_attribute
    WHERE attrelid = ${`book.${table}`}::text::regclass AND attnum > 0 AND NOT attisdropped
      AND attgenerated = '' ORDER BY attnum`;
  const overrides: Overrides = {
    merchant_id: "n.merchant_id",
    created_at: "n.at",
    ...OVERRIDES[table],
  };
  const where = `${table === "withdrawal" ? "id" : "payment_id"} = '${original}'`;
  await sql.unsafe(`
    INSERT INTO book.${table} (${columns.map(({ name }) => name).join(", ")})
    SELECT ${columns.map(({ name }) => overrides[name] ?? `o.${name}`).join(", ")}
    FROM ${copies} n JOIN (${ORIGINALS[table](where)}) o
      ON o.ended = 'any' OR n.failed = (o.ended = 'failed')`);
}

/** Accounts, balances and the system's sums as after all of these withdrawals. */
async function addUp(sql: Sql, original: string, copies: string): Promise<void> {
  await sql.unsafe(`
    CREATE UNLOGGED TABLE public.filled_sum AS
    SELECT merchant_id, max(seq) AS seq, max(line) AS line,
      max(charges + CASE WHEN failed THEN 4 ELSE 2 END) AS charges, count(*) FILTER (WHERE NOT failed) AS paid
    FROM ${copies} n GROUP BY merchant_id`);
  await sql`
    UPDATE book.account a SET withdrawal_seq = s.seq, transaction_seq = s.line, charge_seq = s.charges,
      last_at = greatest(a.last_at, now())
    FROM public.filled_sum s WHERE s.merchant_id = a.merchant_id`;
  await sql`
    UPDATE book.balance b SET available = b.available - s.paid * o.gross
    FROM public.filled_sum s, (
      SELECT currency, network, sum(amount) AS gross FROM book.entry WHERE payment_id = ${original}
      GROUP BY 1, 2) o
    WHERE b.merchant_id = s.merchant_id AND b.currency = o.currency AND b.network = o.network`;
  await sql`
    INSERT INTO book.system_delta (account, currency, network, amount)
    SELECT CASE WHEN o.leg = 'reserve' THEN 'world' ELSE o.to_account END, o.currency, o.network,
      o.amount * (SELECT sum(paid) FROM public.filled_sum)
    FROM book.entry o WHERE o.payment_id = ${original}`;
  await sql`DROP TABLE public.filled_sum`;
}

/** Counts of the lists' full buckets, made of the rows. */
async function countLists(sql: Sql): Promise<void> {
  const lists = {
    withdrawal: "status, '' AS type, 0::numeric AS effect",
    transaction: "status, type, effect",
    charge: "'' AS status, type, amount AS effect",
  };
  await Promise.all(
    Object.entries(lists).map(([list, columns]) =>
      sql.unsafe(`
        INSERT INTO book.list_bucket
          (merchant_id, list, bucket, currency, network, status, type, count, effect)
        SELECT r.merchant_id, '${list}', (r.seq - 1) / 250, r.currency, r.network, r.status, r.type,
          count(*), sum(r.effect)
        FROM (SELECT merchant_id, seq, currency, network, ${columns} FROM book.${list}) r
        JOIN book.account a ON a.merchant_id = r.merchant_id AND r.seq <= a.${list}_seq / 250 * 250
        GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1, 2, 3, 4, 5, 6, 7`)
    ),
  );
}
