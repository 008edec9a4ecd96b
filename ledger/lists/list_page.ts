/**
 * One page of a merchant's list, newest first. Rows are numbered without gaps and counted per pair,
 * status and type (see {@linkcode keptCounts}), so that a page and its total cost the same at the
 * end of a list of a million rows as at its start.
 *
 * @module
 */

import type { Fragment, Row } from "postgres";
import type { Sql } from "../database/connect.ts";
import { keptConditions, keptCounts } from "./list_counts.ts";
import {
  bounds,
  conditions,
  isDated,
  isIndexed,
  type ListFilter,
  type ListName,
  tableOf,
} from "./list_filter.ts";

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

/**
 * Common table expressions `counted (total)` and `page` (the rows, all columns), for a statement
 * that begins with WITH. The page is not ordered.
 */
export function pageOf(
  sql: Sql,
  list: ListName,
  merchantId: string,
  filter: ListFilter,
  request: PageRequest,
): Fragment {
  if (filter.referenceId !== undefined) return searchedPage(sql, list, merchantId, filter, request);
  if (isNarrowed(filter)) return countedPage(sql, list, merchantId, filter, request);
  return numberedPage(sql, list, merchantId, filter, request);
}

function isNarrowed({ status, type, currency, network }: ListFilter): boolean {
  return status !== undefined || type !== undefined || currency !== undefined ||
    network !== undefined;
}

/** All rows, or all of a time: the number of a row is its place. */
function numberedPage(
  sql: Sql,
  list: ListName,
  merchantId: string,
  filter: ListFilter,
  { page, limit }: PageRequest,
): Fragment {
  const offset = (page - 1) * limit;
  return sql`${bounds(sql, list, merchantId, filter)},
    counted AS (SELECT greatest(b.high - b.low + 1, 0) AS total FROM bounds b),
    page AS (
      SELECT x.* FROM bounds b CROSS JOIN LATERAL (
        SELECT r.* FROM ${tableOf(sql, list)} r
        WHERE r.merchant_id = ${merchantId} AND r.seq <= b.high - ${offset}::bigint AND r.seq >= b.low
        ORDER BY r.seq DESC LIMIT ${limit}) x)`;
}

/** Rows of a status, type or pair: kept counts say where the page begins. */
function countedPage(
  sql: Sql,
  list: ListName,
  merchantId: string,
  filter: ListFilter,
  { page, limit }: PageRequest,
): Fragment {
  const offset = (page - 1) * limit;
  return sql`${keptCounts(sql, list, merchantId, filter)},
    span AS MATERIALIZED (
      SELECT low, high, sum(count) AS n FROM kept GROUP BY low, high HAVING sum(count) > 0),
    counted AS (SELECT coalesce(sum(n), 0) AS total FROM span),
    passed AS (SELECT low, high, n, sum(n) OVER (ORDER BY low DESC) AS upto FROM span),
    near AS MATERIALIZED (
      SELECT low, high, upto - n AS before FROM passed
      WHERE upto > ${offset}::bigint AND upto - n < ${offset + limit}::bigint),
    ${
    isIndexed(list, filter)
      ? pageByIndex(sql, list, merchantId, filter, offset, limit)
      : pageByBlocks(sql, list, merchantId, filter, offset, limit)
  }`;
}

/** CTE `page`: rows that an index of their own names one by one, from where the spans begin. */
function pageByIndex(
  sql: Sql,
  list: ListName,
  merchantId: string,
  filter: ListFilter,
  offset: number,
  limit: number,
): Fragment {
  return sql`around AS MATERIALIZED (
      SELECT min(low) AS low, max(high) AS high, min(before) AS before FROM near),
    page AS (
      SELECT x.* FROM around a ${withBounds(sql, filter)} CROSS JOIN LATERAL (
        SELECT r.* FROM ${tableOf(sql, list)} r
        WHERE r.merchant_id = ${merchantId} AND r.seq > a.low * 250 AND r.seq <= a.high * 250
          ${withinBounds(sql, filter)} ${conditions(sql, filter)}
        ORDER BY r.seq DESC
        OFFSET ${offset}::bigint - coalesce((SELECT before FROM around), ${offset}::bigint)
        LIMIT ${limit}) x)`;
}

/**
 * CTE `page`: rows that are found by reading the buckets which have some. OFFSET 0 keeps the planner
 * from taking the buckets apart and reading the whole table against them.
 */
function pageByBlocks(
  sql: Sql,
  list: ListName,
  merchantId: string,
  filter: ListFilter,
  offset: number,
  limit: number,
): Fragment {
  // what the times cut is in buckets already, and counted within the times
  const bucket = isDated(filter)
    ? sql`SELECT low AS bucket, n FROM near JOIN span USING (low, high)`
    : sql`
      SELECT k.bucket, sum(k.count) AS n FROM near s CROSS JOIN LATERAL (
        SELECT r.bucket, r.count FROM book.list_bucket r
        WHERE r.merchant_id = ${merchantId} AND r.list = ${list}
          AND r.bucket >= s.low AND r.bucket < s.high ${keptConditions(sql, filter)} OFFSET 0) k
      GROUP BY k.bucket HAVING sum(k.count) > 0`;
  return sql`bucket AS MATERIALIZED (${bucket}),
    placed AS (
      SELECT bucket, n, (SELECT min(before) FROM near) + sum(n) OVER (ORDER BY bucket DESC) AS upto
      FROM bucket),
    wanted AS MATERIALIZED (
      SELECT bucket, upto - n AS before FROM placed
      WHERE upto > ${offset}::bigint AND upto - n < ${offset + limit}::bigint),
    page AS (
      SELECT x.* FROM wanted w ${withBounds(sql, filter)} CROSS JOIN LATERAL (
        SELECT r.* FROM ${tableOf(sql, list)} r
        WHERE r.merchant_id = ${merchantId} AND r.seq > w.bucket * 250
          AND r.seq <= (w.bucket + 1) * 250 ${withinBounds(sql, filter)} ${conditions(sql, filter)}
        OFFSET 0) x
      ORDER BY x.seq DESC
      OFFSET ${offset}::bigint - coalesce((SELECT min(before) FROM wanted), ${offset}::bigint)
      LIMIT ${limit})`;
}

function withBounds(sql: Sql, filter: ListFilter): Fragment {
  return isDated(filter) ? sql`CROSS JOIN bounds b` : sql``;
}

function withinBounds(sql: Sql, filter: ListFilter): Fragment {
  return isDated(filter) ? sql`AND r.seq >= b.low AND r.seq <= b.high` : sql``;
}

/** Rows of one reference: counted and read row by row, within the times where there are any. */
function searchedPage(
  sql: Sql,
  list: ListName,
  merchantId: string,
  filter: ListFilter,
  { page, limit }: PageRequest,
): Fragment {
  const matching = sql`FROM ${tableOf(sql, list)} r, bounds b
    WHERE r.merchant_id = ${merchantId} AND r.seq >= b.low AND r.seq <= b.high
      ${conditions(sql, filter)}`;
  return sql`${bounds(sql, list, merchantId, filter)},
    counted AS (SELECT count(*) AS total ${matching}),
    page AS (
      SELECT r.* ${matching} ORDER BY r.seq DESC OFFSET ${(page - 1) * limit} LIMIT ${limit})`;
}
