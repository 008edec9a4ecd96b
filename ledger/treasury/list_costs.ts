import type { Sql } from "postgres";
import { type Amount, amountOf } from "../money/amount.ts";
import type { Network, OutgoingAsset } from "../money/pair.ts";
import type { OutgoingRow } from "../rows.ts";

/** One transaction of ours with what the chain took for it. */
export interface CostLine {
  readonly outgoingId: string;
  readonly attempt: number;
  readonly merchantId: string;
  readonly paymentId: string | null;
  readonly kind: OutgoingRow["kind"];
  readonly network: Network;
  readonly currency: OutgoingAsset;
  readonly amount: Amount;
  readonly txid: string;
  readonly outcome: "paid" | "failed" | "unexpected";
  /** The network fee its merchant paid; null for transfers of the house. */
  readonly charged: Amount | null;
  /** What the chain took, in its own coin. */
  readonly coin: Amount;
  /** Units of the currency per coin when it was counted; null: none was known. */
  readonly rate: string | null;
  readonly countedAt: number;
}

/**
 * The newest transactions whose cost is counted.
 *
 * @param before only those of transfers older than this outgoing id; null: from the newest
 */
export async function listCosts(
  sql: Sql,
  networks: readonly Network[],
  before: string | null,
  limit: number,
): Promise<readonly CostLine[]> {
  const rows = await sql`
    SELECT a.outgoing_id, a.number, a.merchant_id, o.payment_id, o.kind, a.network, o.currency,
      trim_scale(o.amount)::text AS amount, a.txid, a.outcome, a.costed_at,
      trim_scale(a.fee)::text AS fee, trim_scale(a.coin_rate)::text AS coin_rate,
      CASE WHEN o.payment_id IS NULL THEN NULL WHEN a.outcome = 'paid'
        THEN trim_scale(w.network_fee)::text ELSE '0' END AS charged
    FROM unnest(${[...networks]}::text[]) AS n(network)
    CROSS JOIN LATERAL (
      SELECT * FROM book.attempt x
      WHERE x.network = n.network AND x.costed_at IS NOT NULL
        AND (${before}::text IS NULL OR x.outgoing_id < ${before})
      ORDER BY x.outgoing_id DESC LIMIT ${limit}) a
    JOIN book.outgoing o ON o.id = a.outgoing_id AND o.merchant_id = a.merchant_id
    LEFT JOIN book.withdrawal w ON w.id = o.payment_id AND w.merchant_id = o.merchant_id
    ORDER BY a.outgoing_id DESC, a.number DESC LIMIT ${limit}`;
  return rows.map((row) => ({
    outgoingId: row.outgoing_id,
    attempt: row.number,
    merchantId: row.merchant_id,
    paymentId: row.payment_id,
    kind: row.kind,
    network: row.network,
    currency: row.currency,
    amount: amountOf(row.amount),
    txid: row.txid,
    outcome: row.outcome,
    charged: row.charged === null ? null : amountOf(row.charged),
    coin: amountOf(row.fee),
    rate: row.coin_rate,
    countedAt: row.costed_at.getTime(),
  }));
}
