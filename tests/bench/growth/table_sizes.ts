import type { Sql } from "../../../ledger/database/connect.ts";

/** Size of one table of the ledger. */
export interface TableSize {
  readonly table: string;
  readonly tuples: number;
  /** Bytes of the table, and of all its indexes. */
  readonly bytes: number;
  readonly indexBytes: number;
}

/** Sizes of the ledger's tables that have rows worth telling, the largest first. */
export async function readTableSizes(sql: Sql): Promise<readonly TableSize[]> {
  const tables = await sql<{ table: string; tuples: number; bytes: string; indexes: string }[]>`
    SELECT c.relname AS table, c.reltuples::int AS tuples, pg_table_size(c.oid) AS bytes,
      pg_indexes_size(c.oid) AS indexes
    FROM pg_class c WHERE c.relnamespace = 'book'::regnamespace AND c.relkind = 'r' AND c.reltuples >= 1000
    ORDER BY pg_total_relation_size(c.oid) DESC`;
  return tables.map(({ table, tuples, bytes, indexes }) => ({
    table,
    tuples,
    bytes: Number(bytes),
    indexBytes: Number(indexes),
  }));
}
