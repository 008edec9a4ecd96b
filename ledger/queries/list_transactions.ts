import type { Fragment, Row } from "postgres";
import { type Amount, amountOf, subtract } from "../amount.ts";
import type { Sql } from "../database/connect.ts";
import { type PairKey, pairKey } from "../pair.ts";
import { type TransactionRow, transactionTable } from "../rows.ts";
import { type ListFilter, type Page, pageOf, type PageRequest } from "./list_page.ts";

/** A line of the statement with the pair's available balance around it. */
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
 * One page of a merchant's statement, newest first. Running balances are over all rows of a line's
 * pair, whatever the filter: the sums of the blocks below, plus what lies before it in its block.
 */
export async function listTransactions(
  sql: Sql,
  merchantId: string,
  filter: ListFilter,
  request: PageRequest,
): Promise<StatementPage> {
  const rows = await sql`
    WITH ${pageOf(sql, "transaction", merchantId, filter, request)},
    ${isGapless(filter) ? newestOfPair(sql, merchantId) : every(sql, merchantId)}
    SELECT c.total, p.*, trim_scale(a.below + i.effect)::text AS after,
      (SELECT trim_scale(b.available)::text FROM book.balance b
       WHERE b.merchant_id = ${merchantId} AND b.currency = ${filter.currency ?? null}
         AND b.network = ${filter.network ?? null}) AS available
    FROM counted c LEFT JOIN page p ON true LEFT JOIN anchor a ON a.seq = p.seq
    LEFT JOIN LATERAL (
      SELECT sum(r.effect) AS effect FROM book.transaction r
      WHERE a.seq IS NOT NULL AND r.merchant_id = ${merchantId}
        AND r.seq > (p.seq - 1) / 1000 * 1000 AND r.seq <= p.seq
        AND r.currency = p.currency AND r.network = p.network) i ON true
    ORDER BY p.seq DESC`;
  const isOnePair = filter.currency !== undefined && filter.network !== undefined;
  return {
    total: Number(rows[0]?.total ?? 0),
    available: isOnePair ? amountOf(rows[0]?.available ?? "0") : null,
    rows: withBalances(rows.filter((row) => row.id !== null)),
  };
}

/** Whether a page holds every row of its pairs between its newest and its oldest. */
function isGapless(filter: ListFilter): boolean {
  return filter.status === undefined && filter.type === undefined &&
    filter.referenceId === undefined;
}

/** CTE `anchor (seq, below)`: the newest row of each pair; the others follow from it. */
function newestOfPair(sql: Sql, merchantId: string): Fragment {
  return sql`anchor AS MATERIALIZED (
    SELECT n.seq, (
      SELECT coalesce(sum(b.effect), 0) FROM book.list_block b
      WHERE b.merchant_id = ${merchantId} AND b.list = 'transaction'
        AND b.block < (n.seq - 1) / 1000 AND b.currency = n.currency AND b.network = n.network
    ) AS below
    FROM (SELECT DISTINCT ON (currency, network) * FROM page
          ORDER BY currency, network, seq DESC) n)`;
}

/**
 * CTE `anchor (seq, below)`: every row. The sums below a few blocks are added up one by one, those
 * below many in one pass over all of them.
 */
function every(sql: Sql, merchantId: string): Fragment {
  return sql`touched AS MATERIALIZED (
      SELECT DISTINCT currency, network, (seq - 1) / 1000 AS block FROM page),
    scattered AS MATERIALIZED (SELECT count(*) > 4 AS yes FROM touched),
    below AS MATERIALIZED (
      SELECT t.currency, t.network, t.block, (
        SELECT coalesce(sum(b.effect), 0) FROM book.list_block b
        WHERE b.merchant_id = ${merchantId} AND b.list = 'transaction' AND b.block < t.block
          AND b.currency = t.currency AND b.network = t.network) AS effect
      FROM touched t WHERE NOT (SELECT yes FROM scattered)
      UNION ALL
      SELECT currency, network, block, sum(sum(effect)) OVER (
          PARTITION BY currency, network ORDER BY block) - sum(effect)
      FROM book.list_block b
      WHERE b.merchant_id = ${merchantId} AND b.list = 'transaction' AND (SELECT yes FROM scattered)
      GROUP BY currency, network, block),
    anchor AS MATERIALIZED (
      SELECT p.seq, l.effect AS below FROM page p JOIN below l
        ON l.block = (p.seq - 1) / 1000 AND l.currency = p.currency AND l.network = p.network)`;
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
