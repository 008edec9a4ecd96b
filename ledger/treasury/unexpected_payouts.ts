import type { Sql } from "postgres";
import { type Amount, amountOf } from "../money/amount.ts";
import type { Currency, Network } from "../money/pair.ts";
import type { InboxKey } from "../rows.ts";

/** A payout whose transaction succeeded without the intended transfer. */
export interface UnexpectedPayout {
  readonly withdrawalId: string;
  readonly settlementId: string | null;
  readonly merchantId: string;
  readonly outgoingId: string;
  readonly network: Network;
  readonly currency: Currency;
  readonly amount: Amount;
  readonly destination: string;
  /** When the withdrawal was made, Unix milliseconds. */
  readonly createdAt: number;
  readonly txid: string;
  /** The block in which our own scan has read it. */
  readonly height: number;
  /** The row of the inbox that was quarantined for it; null: none waits. */
  readonly quarantined: InboxKey | null;
}

/** Reads one, also where it has a verdict already; null: there is no such payout. */
export async function readUnexpectedPayout(
  sql: Sql,
  withdrawalId: string,
): Promise<UnexpectedPayout | null> {
  const [row] = await sql<
    (Omit<UnexpectedPayout, "amount" | "createdAt" | "height" | "quarantined"> & {
      amount: string;
      created_at: Date;
      height: string;
      is_quarantined: boolean;
    })[]
  >`
    SELECT w.id AS "withdrawalId", w.settlement_id AS "settlementId", w.merchant_id AS "merchantId",
      o.id AS "outgoingId", o.network, o.currency, trim_scale(o.amount)::text AS amount, o.destination,
      w.created_at, a.txid, a.height,
      EXISTS (SELECT FROM book.inbox i WHERE i.merchant_id = w.merchant_id AND i.network = o.network
        AND i.txid = a.txid AND i.log_index = -1 AND i.phase = 'outcome' AND i.consumed_at IS NULL) AS is_quarantined
    FROM book.withdrawal w
    JOIN book.outgoing o ON o.id = w.outgoing_id AND o.merchant_id = w.merchant_id AND o.status = 'final'
    JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome = 'unexpected'
    WHERE w.id = ${withdrawalId}`;
  if (row === undefined) return null;
  const { amount, created_at, height, is_quarantined, ...rest } = row;
  const { merchantId, network, txid } = rest;
  return {
    ...rest,
    amount: amountOf(amount),
    createdAt: created_at.getTime(),
    height: Number(height),
    quarantined: is_quarantined
      ? { merchantId, network, txid, logIndex: -1, phase: "outcome" }
      : null,
  };
}
