import { add, type Amount, amountOf } from "../amount.ts";
import type { Sql } from "../database/connect.ts";
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
    touched AS MATERIALIZED (
      SELECT DISTINCT currency, network, (seq - 1) / 1000 AS block FROM page),
    below AS MATERIALIZED (
      SELECT t.currency, t.network, t.block, coalesce(sum(c.effect), 0) AS effect
      FROM touched t LEFT JOIN book.list_block c ON c.merchant_id = ${merchantId}
        AND c.list = 'transaction' AND c.block < t.block
        AND c.currency = t.currency AND c.network = t.network
      GROUP BY 1, 2, 3),
    running AS (
      SELECT r.seq, s.effect + sum(r.effect) OVER (
          PARTITION BY s.currency, s.network, s.block ORDER BY r.seq) AS after
      FROM below s JOIN book.transaction r ON r.merchant_id = ${merchantId}
        AND r.seq > s.block * 1000 AND r.seq <= (s.block + 1) * 1000
        AND r.currency = s.currency AND r.network = s.network)
    SELECT c.total, p.*, trim_scale(n.after - p.effect)::text AS before, trim_scale(n.after)::text AS after,
      (SELECT trim_scale(b.available)::text FROM book.balance b
       WHERE b.merchant_id = ${merchantId} AND b.currency = ${filter.currency ?? null}
         AND b.network = ${filter.network ?? null}) AS available
    FROM counted c LEFT JOIN (page p JOIN running n ON n.seq = p.seq) ON true
    ORDER BY p.seq DESC`;
  const isOnePair = filter.currency !== undefined && filter.network !== undefined;
  return {
    total: Number(rows[0]?.total ?? 0),
    available: isOnePair ? amountOf(rows[0]?.available ?? "0") : null,
    rows: rows.filter((row) => row.id !== null).map((row) => {
      const line = transactionTable.decode(row);
      const balanceBefore = amountOf(row.before);
      return { ...line, balanceBefore, balanceAfter: add(balanceBefore, line.effect) };
    }),
  };
}
