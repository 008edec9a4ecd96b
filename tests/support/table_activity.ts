/**
 * Rows, index entries and log that a database has written so far, from PostgreSQL's own statistics.
 *
 * @module
 */

import type { Sql } from "../../ledger/database/connect.ts";

/** Writes to one table since its statistics began. */
export interface TableActivity {
  readonly table: string;
  /** Rows inserted, changed and deleted. */
  readonly rows: number;
  /** Changes that could not stay on their page, so that every index got an entry more. */
  readonly movedRows: number;
}

/**
 * Writes to each table so far. The caller's own backend reports what it has done; another one does
 * so within seconds, or when its connection ends.
 */
export async function readTableActivity(sql: Sql): Promise<readonly TableActivity[]> {
  await sql`SELECT pg_stat_force_next_flush()`;
  return await sql<TableActivity[]>`
    SELECT schemaname || '.' || relname AS table, (n_tup_ins + n_tup_upd + n_tup_del)::int AS rows,
      (n_tup_upd - n_tup_hot_upd)::int AS "movedRows"
    FROM pg_stat_user_tables ORDER BY 1`;
}

/**
 * Rows in the B-tree indexes of each table: partial ones have those of their predicate. Counted row by
 * row, so only for small tables.
 */
export async function countIndexEntries(sql: Sql): Promise<ReadonlyMap<string, number>> {
  const indexes = await sql<{ table: string; predicate: string | null }[]>`
    SELECT n.nspname || '.' || c.relname AS table, pg_get_expr(i.indpred, i.indrelid) AS predicate
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam
    WHERE n.nspname IN ('book', 'hub') AND m.amname = 'btree'`;
  const counts = await sql.unsafe<{ table: string; n: number }[]>(
    indexes.map(({ table, predicate }) =>
      `SELECT '${table}' AS table, count(*)::int AS n FROM ${table} WHERE ${predicate ?? "true"}`
    ).join("\nUNION ALL "),
  );
  const entries = new Map<string, number>();
  for (const { table, n } of counts) entries.set(table, (entries.get(table) ?? 0) + n);
  return entries;
}

/** Bytes of write-ahead log that the server has made so far. */
export async function readWalBytes(sql: Sql): Promise<number> {
  const [row] = await sql<{ bytes: string }[]>`
    SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS bytes`;
  return Number(row?.bytes ?? 0);
}
