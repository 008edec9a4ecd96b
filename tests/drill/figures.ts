/**
 * Figures of a database that an upgrade must not change, read by statements that the schema of every
 * release understands.
 *
 * @module
 */

import type { Sql } from "../../ledger/database/connect.ts";

/** A figure by its name, for example `rows of book.entry`. */
export type Figures = ReadonlyMap<string, string>;

/** Tables of money: a migration neither adds nor takes rows. Others may be given rows, as settings are. */
const MONEY = new Set([
  "account",
  "attempt",
  "balance",
  "charge",
  "deposit",
  "deposit_address",
  "entry",
  "inbox",
  "margin",
  "merchant",
  "outbox",
  "outgoing",
  "settlement",
  "transaction",
  "withdrawal",
].map((name) => `rows of book.${name}`));
const PAYMENTS = ["deposit", "withdrawal", "settlement", "outgoing"] as const;

/** Number of rows of each table, every balance, and payments by status with their amounts. */
export async function readFigures(sql: Sql): Promise<Figures> {
  const figures = new Map<string, string>();
  await sql.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY", async (tx) => {
    const tables = await tx<{ name: string }[]>`
      SELECT c.oid::regclass::text AS name FROM pg_class c
      WHERE c.relkind = 'r' AND c.relnamespace::regnamespace::text IN ('book', 'hub')
        AND c.oid::regclass::text <> 'hub.migration' ORDER BY 1`;
    for (const { name } of tables) {
      const [row] = await tx.unsafe(`SELECT count(*)::text AS count FROM ${name}`);
      figures.set(`rows of ${name}`, String(row?.count));
    }
    const balances = await tx<{ name: string; amounts: string }[]>`
      SELECT concat_ws(' ', merchant_id, currency, network) AS name,
        concat_ws(' ', available, pending, reserved) AS amounts FROM book.balance`;
    for (const { name, amounts } of balances) figures.set(`balance of ${name}`, amounts);
    const entries = await tx<{ name: string; amount: string }[]>`
      SELECT concat_ws(' ', currency, network) AS name, sum(amount)::text AS amount
      FROM book.entry GROUP BY 1`;
    for (const { name, amount } of entries) figures.set(`entries of ${name}`, amount);
    for (const table of PAYMENTS) {
      const states = await tx<{ name: string; figure: string }[]>`
        SELECT concat_ws(' ', status, currency, network) AS name,
          count(*) || ' of ' || sum(amount) AS figure
        FROM book.${tx(table)} GROUP BY 1`;
      for (const { name, figure } of states) figures.set(`${table} ${name}`, figure);
    }
  });
  return figures;
}

/**
 * Sentences on what an upgrade has changed and must not. A table that holds no money may have been given rows,
 * as new settings are; no table may lack any, and one that is gone is a fault.
 */
export function figureFaults(before: Figures, after: Figures): readonly string[] {
  const faults: string[] = [];
  for (const [name, was] of before) {
    const is = after.get(name);
    if (is === was) continue;
    if (is !== undefined && name.startsWith("rows of ") && !MONEY.has(name)) {
      if (BigInt(is) > BigInt(was)) continue;
    }
    faults.push(`${name}: ${was} before, ${is ?? "none"} afterwards`);
  }
  for (const [name, is] of after) {
    if (before.has(name) || name.startsWith("rows of ")) continue;
    faults.push(`${name}: none before, ${is} afterwards`);
  }
  return faults;
}
