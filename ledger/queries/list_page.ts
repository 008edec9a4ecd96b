/**
 * One page of a merchant's list, newest first. Rows are numbered without gaps and counted per 1,000
 * of them and per pair and status (book.list_block), so that a page and its total cost the same
 * at the end of a list of a million rows as at its start.
 *
 * @module
 */

import type { Fragment } from "postgres";
import type { Sql } from "../database/connect.ts";
import type { Currency, Network } from "../pair.ts";

/** Lists that are numbered by the merchant's own counters. */
export type ListName = "deposit" | "withdrawal" | "transaction" | "settlement";

/** Which rows are wanted; an absent or undefined field does not restrict. */
export interface ListFilter {
  readonly status?: string | undefined;
  readonly currency?: Currency | undefined;
  readonly network?: Network | undefined;
  /** Not older than, Unix milliseconds. */
  readonly from?: number | undefined;
  /** Older than, Unix milliseconds. */
  readonly until?: number | undefined;
  /** Only transactions have it. */
  readonly type?: string | undefined;
  /** Exact match. */
  readonly referenceId?: string | undefined;
}

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
  const { status, currency, network, from, until, type, referenceId } = filter;
  const narrowed = status !== undefined || currency !== undefined || network !== undefined;
  const searched = type !== undefined || referenceId !== undefined;
  const dated = from !== undefined || until !== undefined;
  if (searched || (dated && narrowed)) return searchedPage(sql, list, merchantId, filter, request);
  if (narrowed) return countedPage(sql, list, merchantId, filter, request);
  return numberedPage(sql, list, merchantId, filter, request);
}

const TABLES = {
  deposit: (sql: Sql) => sql`book.deposit`,
  withdrawal: (sql: Sql) => sql`book.withdrawal`,
  transaction: (sql: Sql) => sql`book.transaction`,
  settlement: (sql: Sql) => sql`book.settlement`,
} as const;

/** CTE `bounds (low, high)`: the numbers between which the list lies. */
function bounds(sql: Sql, list: ListName, merchantId: string, filter: ListFilter): Fragment {
  const last = {
    deposit: sql`a.deposit_seq`,
    withdrawal: sql`a.withdrawal_seq`,
    transaction: sql`a.transaction_seq`,
    settlement: sql`a.settlement_seq`,
  }[list];
  const low = filter.from === undefined
    ? sql`1::bigint`
    : sql`book.first_seq_since(${list}, ${merchantId}, ${new Date(filter.from)})`;
  const high = filter.until === undefined
    ? last
    : sql`book.first_seq_since(${list}, ${merchantId}, ${new Date(filter.until)}) - 1`;
  return sql`bounds AS MATERIALIZED (
    SELECT ${low} AS low, ${high} AS high FROM book.account a WHERE a.merchant_id = ${merchantId})`;
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
        SELECT r.* FROM ${TABLES[list](sql)} r
        WHERE r.merchant_id = ${merchantId} AND r.seq <= b.high - ${offset}::bigint AND r.seq >= b.low
        ORDER BY r.seq DESC LIMIT ${limit}) x)`;
}

/** Rows of a status or pair: the counts per 1,000 rows say where the page begins. */
function countedPage(
  sql: Sql,
  list: ListName,
  merchantId: string,
  filter: ListFilter,
  { page, limit }: PageRequest,
): Fragment {
  const offset = (page - 1) * limit;
  return sql`block AS MATERIALIZED (
      SELECT c.block, sum(c.count) AS n FROM book.list_block c
      WHERE c.merchant_id = ${merchantId} AND c.list = ${list} ${conditions(sql, "c", filter)}
      GROUP BY c.block HAVING sum(c.count) > 0),
    counted AS (SELECT coalesce(sum(n), 0) AS total FROM block),
    passed AS (SELECT block, n, sum(n) OVER (ORDER BY block DESC) AS upto FROM block),
    wanted AS MATERIALIZED (
      SELECT block, upto - n AS before FROM passed
      WHERE upto > ${offset}::bigint AND upto - n < ${offset + limit}::bigint),
    page AS (
      SELECT x.* FROM (SELECT block FROM wanted ORDER BY block DESC) w CROSS JOIN LATERAL (
        SELECT r.* FROM ${TABLES[list](sql)} r
        WHERE r.merchant_id = ${merchantId} AND r.seq > w.block * 1000
          AND r.seq <= (w.block + 1) * 1000 ${conditions(sql, "r", filter)}) x
      ORDER BY x.seq DESC
      OFFSET ${offset}::bigint - coalesce((SELECT min(before) FROM wanted), ${offset}::bigint)
      LIMIT ${limit})`;
}

/** Any other filter: counted and read row by row, within the times where there are any. */
function searchedPage(
  sql: Sql,
  list: ListName,
  merchantId: string,
  filter: ListFilter,
  { page, limit }: PageRequest,
): Fragment {
  const matching = sql`FROM ${TABLES[list](sql)} r, bounds b
    WHERE r.merchant_id = ${merchantId} AND r.seq >= b.low AND r.seq <= b.high
      ${conditions(sql, "r", filter)}`;
  return sql`${bounds(sql, list, merchantId, filter)},
    counted AS (SELECT count(*) AS total ${matching}),
    page AS (
      SELECT r.* ${matching} ORDER BY r.seq DESC OFFSET ${(page - 1) * limit} LIMIT ${limit})`;
}

function conditions(sql: Sql, alias: "c" | "r", filter: ListFilter): Fragment {
  const of = sql(alias);
  return sql`
    ${filter.status === undefined ? sql`` : sql`AND ${of}.status = ${filter.status}`}
    ${filter.currency === undefined ? sql`` : sql`AND ${of}.currency = ${filter.currency}`}
    ${filter.network === undefined ? sql`` : sql`AND ${of}.network = ${filter.network}`}
    ${filter.type === undefined ? sql`` : sql`AND ${of}.type = ${filter.type}`}
    ${
    filter.referenceId === undefined ? sql`` : sql`AND ${of}.reference_id = ${filter.referenceId}`
  }`;
}
