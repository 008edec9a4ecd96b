import { type Amount, amountOf } from "../amount.ts";
import type { Sql } from "../database/connect.ts";
import type { Currency, Network } from "../pair.ts";
import type { Page, PageRequest } from "../queries/list_page.ts";

/** A payout that waits for an administrator. */
export interface Approval {
  readonly type: "withdrawal" | "settlement";
  readonly id: string;
  readonly merchantId: string;
  readonly merchantName: string;
  readonly currency: Currency;
  readonly network: Network;
  readonly amount: Amount;
  readonly totalFees: Amount;
  readonly destination: string;
  readonly status: string;
  readonly createdAt: number;
  /** The key that asked for it. */
  readonly createdBy: string | null;
}

/** One page of everything that waits for an administrator, newest first. */
export async function listApprovals(
  sql: Sql,
  { page, limit }: PageRequest,
): Promise<Page<Approval>> {
  const waiting = sql`
    SELECT 'withdrawal' AS type, id, merchant_id, currency, network, amount,
      base_fee + markup_amount + network_fee AS total_fees, destination, status, created_at, created_by
    FROM book.withdrawal WHERE status = 'PENDING_APPROVAL' AND settlement_id IS NULL
    UNION ALL
    SELECT 'settlement', id, merchant_id, currency, network, amount, total_fees, address, status, created_at,
      created_by
    FROM book.settlement WHERE status = 'APPROVAL_REQUIRED'`;
  const [[counted], rows] = await Promise.all([
    sql<{ total: string }[]>`SELECT count(*) AS total FROM (${waiting}) w`,
    sql<{
      type: Approval["type"];
      id: string;
      merchant_id: string;
      name: string;
      currency: Currency;
      network: Network;
      amount: string;
      total_fees: string;
      destination: string;
      status: string;
      created_at: Date;
      created_by: string | null;
    }[]>`
      SELECT w.type, w.id, w.merchant_id, m.name, w.currency, w.network,
        trim_scale(w.amount)::text AS amount, trim_scale(w.total_fees)::text AS total_fees,
        w.destination, w.status, w.created_at, w.created_by
      FROM (${waiting}) w JOIN book.merchant m ON m.merchant_id = w.merchant_id
      ORDER BY w.created_at DESC, w.id DESC OFFSET ${(page - 1) * limit}::bigint LIMIT ${limit}`,
  ]);
  return {
    total: Number(counted?.total ?? 0),
    rows: rows.map((row) => ({
      type: row.type,
      id: row.id,
      merchantId: row.merchant_id,
      merchantName: row.name,
      currency: row.currency,
      network: row.network,
      amount: amountOf(row.amount),
      totalFees: amountOf(row.total_fees),
      destination: row.destination,
      status: row.status,
      createdAt: row.created_at.getTime(),
      createdBy: row.created_by,
    })),
  };
}
