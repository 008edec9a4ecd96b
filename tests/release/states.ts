/**
 * The states that a schema knows, and those that rows are in.
 *
 * @module
 */

import type { Sql } from "../../ledger/database/connect.ts";

/**
 * Tables that have no row, and values that a CHECK constraint lists for a column and that no row
 * has, as `table.column = value`.
 */
export async function statesWithoutRow(sql: Sql): Promise<readonly string[]> {
  const columns = await sql<{ name: string; column: string; check: string }[]>`
    SELECT k.conrelid::regclass::text AS name, quote_ident(a.attname) AS column,
      pg_get_constraintdef(k.oid) AS check
    FROM pg_constraint k
    JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
    WHERE k.contype = 'c' AND cardinality(k.conkey) = 1
      AND k.connamespace::regnamespace::text IN ('book', 'hub')
      AND pg_get_constraintdef(k.oid) ~ '= ANY \\((ARRAY\\[|''\\{)'
    ORDER BY 1, 2`;
  const without: string[] = [];
  const tables = await sql<{ name: string }[]>`
    SELECT c.oid::regclass::text AS name FROM pg_class c
    WHERE c.relkind = 'r' AND c.relnamespace::regnamespace::text IN ('book', 'hub')`;
  for (const { name } of tables) {
    if ((await sql.unsafe(`SELECT FROM ${name} LIMIT 1`)).length === 0) without.push(name);
  }
  for (const { name, column, check } of columns) {
    const rows = await sql.unsafe(`SELECT DISTINCT ${column} AS value FROM ${name}`);
    const found = new Set(rows.map(({ value }) => String(value)));
    for (const value of listedBy(check)) {
      if (!found.has(value)) without.push(`${name}.${column} = ${value}`);
    }
  }
  return without;
}

/** Values that a CHECK lists, written as `ARRAY['a'::text, 'b'::text]` or as `'{a,b}'::text[]`. */
function listedBy(check: string): readonly string[] {
  const array = /'\{([^}']*)\}'::text\[\]/.exec(check)?.[1];
  if (array !== undefined) return array.split(",");
  return [...check.matchAll(/'([^']*)'::text/g)].map(([, value = ""]) => value);
}
