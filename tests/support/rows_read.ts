import type { Sql } from "../../ledger/database/connect.ts";

/**
 * Counts the rows of a table and the entries of its indexes that a piece of work reads.
 *
 * @param sql a pool of one connection, on a database that no other test has used: statistics are the database's
 * @param table its name with its schema
 */
export async function rowsRead(
  sql: Sql,
  table: string,
  work: () => Promise<unknown>,
): Promise<number> {
  const before = await readSoFar(sql, table);
  await work();
  return await readSoFar(sql, table) - before;
}

async function readSoFar(sql: Sql, table: string): Promise<number> {
  // written when this statement ends, together with all that went before
  await sql`SELECT pg_stat_force_next_flush()`;
  const [row] = await sql<{ rows: string }[]>`
    SELECT sum(pg_stat_get_tuples_returned(c.oid)) AS rows FROM pg_class c
    WHERE c.oid = ${table}::regclass
      OR c.oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = ${table}::regclass)`;
  return Number(row?.rows);
}
