/**
 * Counts and sums of a merchant's lists, as the journal keeps them: per 250 rows (a bucket), per 256
 * buckets where those have all their rows (a large bucket), and per pair, status and type.
 *
 * @module
 */

import type { Fragment } from "postgres";
import type { Sql } from "../database/connect.ts";
import {
  bounds,
  conditions,
  isDated,
  type ListFilter,
  type ListName,
  tableOf,
} from "./list_filter.ts";

/**
 * CTE `kept (low, high, currency, network, type, count, effect)`: counts and sums of the rows under a
 * filter, several per span of buckets from `low` to before `high`. Where the filter names times,
 * every span is one bucket, and what they cut is counted row by row (CTE `bounds` included).
 */
export function keptCounts(
  sql: Sql,
  list: ListName,
  merchantId: string,
  filter: ListFilter,
): Fragment {
  const where = sql`r.merchant_id = ${merchantId} AND r.list = ${list}
    ${keptConditions(sql, filter)}`;
  const sums = sql`r.currency, r.network, r.type, r.count, r.effect`;
  if (!isDated(filter)) {
    return sql`kept AS MATERIALIZED (
      SELECT r.large_bucket * 256 AS low, r.large_bucket * 256 + 256 AS high, ${sums} FROM book.list_large_bucket r
      WHERE ${where}
      UNION ALL
      SELECT r.bucket, r.bucket + 1, ${sums} FROM book.list_bucket r
      WHERE ${where} AND r.bucket >= ${summed(sql, list, merchantId)} * 256)`;
  }
  const type = list === "charge" || list === "transaction" ? sql`r.type` : sql`''`;
  const effect = list === "transaction"
    ? sql`r.effect`
    : list === "charge"
    ? sql`r.amount`
    : sql`0`;
  return sql`${bounds(sql, list, merchantId, filter)},
    cut AS MATERIALIZED (
      SELECT DISTINCT e.bucket FROM bounds b,
        LATERAL (VALUES ((b.low - 1) / 250), ((b.high - 1) / 250)) e(bucket) WHERE b.low <= b.high),
    kept AS MATERIALIZED (
      SELECT r.bucket AS low, r.bucket + 1 AS high, ${sums} FROM book.list_bucket r CROSS JOIN bounds b
      WHERE ${where} AND r.bucket > (b.low - 1) / 250 AND r.bucket < (b.high - 1) / 250
      UNION ALL
      SELECT c.bucket, c.bucket + 1, r.currency, r.network, ${type}, 1, ${effect}
      FROM bounds b CROSS JOIN cut c CROSS JOIN LATERAL (
        SELECT x.* FROM ${tableOf(sql, list)} x
        WHERE x.merchant_id = ${merchantId} AND x.seq >= greatest(b.low, c.bucket * 250 + 1)
          AND x.seq <= least(b.high, (c.bucket + 1) * 250) OFFSET 0) r
      WHERE true ${conditions(sql, filter)})`;
}

/** Number of buckets of a list that are summed; a scalar. */
export function summed(sql: Sql, list: ListName, merchantId: string): Fragment {
  return sql`coalesce((SELECT s.large_buckets FROM book.list_summed s
    WHERE s.merchant_id = ${merchantId} AND s.list = ${list}), 0)`;
}

/** Conditions on `r`, a row of book.list_bucket or book.list_large_bucket. */
export function keptConditions(
  sql: Sql,
  { status, type, currency, network }: ListFilter,
): Fragment {
  return sql`
    ${status === undefined ? sql`` : sql`AND r.status = ${status}`}
    ${type === undefined ? sql`` : sql`AND r.type = ${type}`}
    ${currency === undefined ? sql`` : sql`AND r.currency = ${currency}`}
    ${network === undefined ? sql`` : sql`AND r.network = ${network}`}`;
}

/** Rows that a large bucket has when it is whole; see book.list_large_bucket. */
const LARGE_BUCKET_ROWS = 64_000;
/** Merchants summed at once. */
const AT_A_TIME = 100;

/**
 * Sums the whole large buckets of lists that are not summed yet. Every merchant is a transaction of its own
 * under the lock of its account.
 *
 * @returns how many merchants had some
 */
export async function sumLargeBuckets(sql: Sql): Promise<number> {
  const due = await sql<{ merchant_id: string }[]>`
    SELECT a.merchant_id FROM book.account a
    WHERE greatest(a.deposit_seq, a.withdrawal_seq, a.transaction_seq, a.settlement_seq, a.charge_seq)
        >= ${LARGE_BUCKET_ROWS}
      AND EXISTS (
        SELECT FROM (VALUES ('deposit', a.deposit_seq), ('withdrawal', a.withdrawal_seq),
          ('transaction', a.transaction_seq), ('settlement', a.settlement_seq),
          ('charge', a.charge_seq)) l(list, last)
        LEFT JOIN book.list_summed s ON s.merchant_id = a.merchant_id AND s.list = l.list
        WHERE l.last / ${LARGE_BUCKET_ROWS} > coalesce(s.large_buckets, 0))
    LIMIT ${AT_A_TIME}`;
  for (const { merchant_id } of due) await sql`SELECT book.sum_large_buckets(${merchant_id})`;
  return due.length;
}
