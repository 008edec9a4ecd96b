import type { Fragment, Row } from "postgres";
import type { Sql } from "./database/connect.ts";
import { type Page, pageOf, type PageRequest } from "./lists/list_page.ts";
import { type ListFilter, ListQuery } from "./lists/list_query.ts";
import { type Amount, amountOf, subtract } from "./money/amount.ts";
import { type PairKey, pairKey } from "./money/pair.ts";
import { type TransactionRow, transactionTable } from "./payment_rows.ts";

/** An entry of the statement with the pair's available balance around it. */
export interface StatementLine extends TransactionRow {
  readonly balanceBefore: Amount;
  readonly balanceAfter: Amount;
}

/** A page of the statement, and what the pair holds as of the same instant. */
export interface StatementPage extends Page<StatementLine> {
  /** Available balance of the pair; null where the filter does not name one. */
  readonly available: Amount | null;
}

/**
 * One page of a merchant's statement, newest first. Running balances are over all rows of an
 * entry's pair, whatever the filter: the sums of the buckets below its own, plus what is before it in that.
 */
export async function listTransactions(
  sql: Sql,
  merchantId: string,
  filter: ListFilter,
  request: PageRequest,
): Promise<StatementPage> {
  const query = new ListQuery(sql, "transaction", merchantId, filter);
  const rows = await sql`
    WITH ${query.lastBucket}, ${pageOf(query, request)}, ${anchors(query, isGapless(filter))}
    SELECT c.total, p.*, trim_scale(a.below + i.effect)::text AS after,
      (SELECT trim_scale(b.available)::text FROM book.balance b
       WHERE b.merchant_id = ${merchantId} AND b.currency = ${filter.currency ?? null}
         AND b.network = ${filter.network ?? null}) AS available
    FROM counted c LEFT JOIN page p ON true LEFT JOIN anchor a ON a.seq = p.seq
    LEFT JOIN LATERAL (
      SELECT sum(r.effect) AS effect FROM book.transaction r
      WHERE a.seq IS NOT NULL AND r.merchant_id = ${merchantId}
        AND r.seq > (p.seq - 1) / 250 * 250 AND r.seq <= p.seq
        AND r.currency = p.currency AND r.network = p.network) i ON true
    ORDER BY p.seq DESC`;
  const isOnePair = filter.currency !== undefined && filter.network !== undefined;
  return {
    total: Number(rows[0]?.total ?? 0),
    available: isOnePair ? amountOf(rows[0]?.available ?? "0") : null,
    rows: withBalances(rows.filter((row) => row.id !== null)),
  };
}

/** True if a page holds every row of its pairs between its newest and its oldest. */
function isGapless(filter: ListFilter): boolean {
  return filter.status === undefined && filter.type === undefined &&
    filter.referenceId === undefined;
}

/**
 * CTE `anchor (seq, below)`: rows of the page with the sum of their pair's effects in all buckets
 * before theirs. Of a gapless page only the newest row of each pair: the others follow from it.
 */
function anchors(
  { sql, merchantId, summedBuckets, buckets }: ListQuery,
  isGapless: boolean,
): Fragment {
  const wanted = isGapless
    ? sql`SELECT DISTINCT ON (currency, network) seq, currency, network FROM page
          ORDER BY currency, network, seq DESC`
    : sql`SELECT seq, currency, network FROM page`;
  return sql`picked AS MATERIALIZED (${wanted}),
    large_bucket AS MATERIALIZED (SELECT DISTINCT (seq - 1) / 64000 AS large_bucket FROM picked),
    large_buckets_below AS MATERIALIZED (
      SELECT c.large_bucket, k.currency, k.network, sum(k.effect) AS effect
      FROM large_bucket c CROSS JOIN LATERAL (
        SELECT x.currency, x.network, x.effect FROM book.list_large_bucket x
        WHERE x.merchant_id = ${merchantId} AND x.list = 'transaction'
          AND x.large_bucket < c.large_bucket
        UNION ALL
        SELECT r.currency, r.network, r.effect FROM ${buckets}
        WHERE r.bucket >= ${summedBuckets} * 256 AND r.bucket < c.large_bucket * 256) k
      GROUP BY 1, 2, 3),
    buckets_below AS MATERIALIZED (
      SELECT * FROM (
        SELECT k.bucket, k.currency, k.network, sum(sum(k.effect)) OVER (
            PARTITION BY c.large_bucket, k.currency, k.network ORDER BY k.bucket) - sum(k.effect) AS effect
        FROM large_bucket c CROSS JOIN LATERAL (
          SELECT r.bucket, r.currency, r.network, r.effect FROM ${buckets}
          WHERE r.bucket >= c.large_bucket * 256 AND r.bucket < (c.large_bucket + 1) * 256 OFFSET 0) k
        GROUP BY c.large_bucket, k.bucket, k.currency, k.network) b
      -- a kept plan expects few and joins them row by row: only those that are wanted
      WHERE b.bucket = ANY (ARRAY(SELECT DISTINCT (seq - 1) / 250 FROM picked))),
    anchor AS MATERIALIZED (
      SELECT p.seq, b.effect + coalesce(c.effect, 0) AS below FROM picked p
      JOIN buckets_below b ON b.bucket = (p.seq - 1) / 250 AND b.currency = p.currency
        AND b.network = p.network
      LEFT JOIN large_buckets_below c ON c.large_bucket = (p.seq - 1) / 64000 AND c.currency = p.currency
        AND c.network = p.network)`;
}

/** Rows newest first; one that has no sum of its own is the next older of its pair. */
function withBalances(rows: readonly Row[]): readonly StatementLine[] {
  const running = new Map<PairKey, Amount>();
  return rows.map((row) => {
    const line = transactionTable.decode(row);
    const pair = pairKey(line.currency, line.network);
    const balanceAfter = typeof row.after === "string" ? amountOf(row.after) : running.get(pair);
    if (balanceAfter === undefined) {
      throw new Error(`Cannot tell a balance as its pair has no anchor: ${line.id}`);
    }
    const balanceBefore = subtract(balanceAfter, line.effect);
    running.set(pair, balanceBefore);
    return { ...line, balanceBefore, balanceAfter };
  });
}
