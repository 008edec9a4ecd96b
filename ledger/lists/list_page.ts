/**
 * One page of a list, newest first. The rows of a merchant's own lists are numbered without gaps and
 * counted per pair, status and type, so that a page and its total cost the same at the end of a list of a
 * million rows as at its start.
 *
 * @module
 */

import type { Fragment, Row } from "postgres";
import type { Sql } from "../database/connect.ts";
import type { Table } from "../table.ts";
import type { ListQuery } from "./list_query.ts";

/** Which part of the list is wanted. */
export interface PageRequest {
  /** From 1. */
  readonly page: number;
  /** Rows per page, 1 to 100. */
  readonly limit: number;
}

/** One page. */
export interface Page<R> {
  readonly rows: readonly R[];
  /** Rows of the whole list under the filter. */
  readonly total: number;
}

/** One page of the rows that `matching` (`FROM ... WHERE ...`) names, all of which are counted. */
export async function readCountedPage<R>(
  sql: Sql,
  columns: Fragment,
  matching: Fragment,
  order: Fragment,
  { page, limit }: PageRequest,
  decode: (row: Row) => R,
): Promise<Page<R>> {
  const [[counted], rows] = await Promise.all([
    sql<{ total: string }[]>`SELECT count(*) AS total ${matching}`,
    sql`SELECT ${columns} ${matching} ORDER BY ${order}
      OFFSET ${(page - 1) * limit}::bigint LIMIT ${limit}`,
  ]);
  return { total: Number(counted?.total ?? 0), rows: rows.map(decode) };
}

/** One page of a merchant's list. */
export async function readListPage<R>(
  query: ListQuery,
  table: Table<R>,
  request: PageRequest,
): Promise<Page<R>> {
  const rows: R[] = [];
  const total = await streamListPage(query, table, request, (row) => rows.push(row));
  return { total, rows };
}

/**
 * Reads one page of a merchant's list without keeping its rows: each may be large.
 *
 * @param take called with each row as it arrives; what it was given counts only when this resolves
 * @returns rows of the whole list under the filter
 */
export async function streamListPage<R>(
  query: ListQuery,
  table: Table<R>,
  request: PageRequest,
  take: (row: R) => void,
): Promise<number> {
  let total = 0;
  await query.sql`
    WITH ${query.lastBucket}, ${pageOf(query, request)}
    SELECT c.total, p.* FROM counted c LEFT JOIN page p ON true ORDER BY p.seq DESC`
    .forEach((row) => {
      total = Number(row.total);
      if (row.id !== null) take(table.decode(row));
    });
  return total;
}

/**
 * Common table expressions `counted (total)` and `page` (the rows, all columns), for a statement
 * that begins with WITH and the query's `lastBucket`. The page is not ordered.
 */
export function pageOf(query: ListQuery, { page, limit }: PageRequest): Fragment {
  const offset = (page - 1) * limit;
  if (query.isSearched) return searchedPage(query, offset, limit);
  if (query.isNarrowed) return countedPage(query, offset, limit);
  return numberedPage(query, offset, limit);
}

/** All rows, or all of a time: the number of a row is its place. */
function numberedPage(query: ListQuery, offset: number, limit: number): Fragment {
  const { sql, merchantId } = query;
  return sql`${query.bounds},
    counted AS (SELECT greatest(b.high - b.low + 1, 0) AS total FROM bounds b),
    page AS (
      SELECT x.* FROM bounds b CROSS JOIN LATERAL (
        SELECT r.* FROM ${query.table} r
        WHERE r.merchant_id = ${merchantId} AND r.seq <= b.high - ${offset}::bigint AND r.seq >= b.low
        ORDER BY r.seq DESC LIMIT ${limit}) x)`;
}

/** Rows of a status, type or pair: the counts of the buckets say where the page begins. */
function countedPage(query: ListQuery, offset: number, limit: number): Fragment {
  const { sql } = query;
  return sql`${query.counts},
    span AS MATERIALIZED (
      SELECT low, high, sum(count) AS n FROM counts GROUP BY low, high HAVING sum(count) > 0),
    counted AS (SELECT coalesce(sum(n), 0) AS total FROM span),
    passed AS (SELECT low, high, n, sum(n) OVER (ORDER BY low DESC) AS upto FROM span),
    near AS MATERIALIZED (
      SELECT low, high, upto - n AS before FROM passed
      WHERE upto > ${offset}::bigint AND upto - n < ${offset + limit}::bigint),
    ${query.isIndexed ? pageByIndex(query, offset, limit) : pageByBuckets(query, offset, limit)}`;
}

/** CTE `page`: rows that an index of their own names one by one, from where the ranges begin. */
function pageByIndex(query: ListQuery, offset: number, limit: number): Fragment {
  const { sql, merchantId } = query;
  return sql`around AS MATERIALIZED (
      SELECT min(low) AS low, max(high) AS high, min(before) AS before FROM near),
    page AS (
      SELECT x.* FROM around a ${withBounds(query)} CROSS JOIN LATERAL (
        SELECT r.* FROM ${query.table} r
        WHERE r.merchant_id = ${merchantId} AND r.seq > a.low * 250 AND r.seq <= a.high * 250
          ${withinBounds(query)} ${query.conditions}
        ORDER BY r.seq DESC
        OFFSET ${offset}::bigint - coalesce((SELECT before FROM around), ${offset}::bigint)
        LIMIT ${limit}) x)`;
}

/**
 * CTE `page`: rows that are found by reading the buckets which have some. OFFSET 0 keeps the planner
 * from taking the buckets apart and reading the whole table against them.
 */
function pageByBuckets(query: ListQuery, offset: number, limit: number): Fragment {
  const { sql, merchantId } = query;
  // ranges that the times cut are buckets already, and counted within the times
  const bucket = query.isDated
    ? sql`SELECT low AS bucket, n FROM near JOIN span USING (low, high)`
    : sql`
      SELECT k.bucket, sum(k.count) AS n FROM near s CROSS JOIN LATERAL (
        SELECT r.bucket, r.count FROM ${query.buckets}
        WHERE ${query.bucketConditions} AND r.bucket >= s.low AND r.bucket < s.high OFFSET 0) k
      GROUP BY k.bucket HAVING sum(k.count) > 0`;
  return sql`bucket AS MATERIALIZED (${bucket}),
    placed AS (
      SELECT bucket, n, (SELECT min(before) FROM near) + sum(n) OVER (ORDER BY bucket DESC) AS upto
      FROM bucket),
    wanted AS MATERIALIZED (
      SELECT bucket, upto - n AS before FROM placed
      WHERE upto > ${offset}::bigint AND upto - n < ${offset + limit}::bigint),
    page AS (
      SELECT x.* FROM wanted w ${withBounds(query)} CROSS JOIN LATERAL (
        SELECT r.* FROM ${query.table} r
        WHERE r.merchant_id = ${merchantId} AND r.seq > w.bucket * 250
          AND r.seq <= (w.bucket + 1) * 250 ${withinBounds(query)} ${query.conditions}
        OFFSET 0) x
      ORDER BY x.seq DESC
      OFFSET ${offset}::bigint - coalesce((SELECT min(before) FROM wanted), ${offset}::bigint)
      LIMIT ${limit})`;
}

function withBounds({ sql, isDated }: ListQuery): Fragment {
  return isDated ? sql`CROSS JOIN bounds b` : sql``;
}

function withinBounds({ sql, isDated }: ListQuery): Fragment {
  return isDated ? sql`AND r.seq >= b.low AND r.seq <= b.high` : sql``;
}

/** Rows of one reference: counted and read row by row, within the times where there are any. */
function searchedPage(query: ListQuery, offset: number, limit: number): Fragment {
  const { sql } = query;
  const matching = sql`FROM ${query.searched}, bounds b
    WHERE r.seq >= b.low AND r.seq <= b.high ${query.conditions}`;
  return sql`${query.bounds},
    counted AS (SELECT count(*) AS total ${matching}),
    page AS (SELECT r.* ${matching} ORDER BY r.seq DESC OFFSET ${offset} LIMIT ${limit})`;
}
