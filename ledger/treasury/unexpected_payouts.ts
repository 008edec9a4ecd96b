import type { Sql } from "postgres";
import type { Currency, Network } from "../money/pair.ts";
import type { InboxKey } from "../rows.ts";
import { shape } from "../shape.ts";
import { amount, bigint, boolean, orNull, type RowOf, text, time } from "../table.ts";

const payoutShape = shape({
  withdrawalId: text(),
  settlementId: orNull(text()),
  merchantId: text(),
  outgoingId: text(),
  network: text<Network>(),
  currency: text<Currency>(),
  amount: amount(),
  destination: text(),
  /** Time of the withdrawal, Unix milliseconds. */
  createdAt: time(),
  txid: text(),
  /** The block in which our own scan has read it. */
  height: bigint(),
  isQuarantined: boolean(),
});
/** A payout whose transaction succeeded without the intended transfer. */
export interface UnexpectedPayout extends Omit<RowOf<typeof payoutShape>, "isQuarantined"> {
  /** The row of the inbox that was quarantined for it; null: none waits. */
  readonly quarantined: InboxKey | null;
}

/** Reads one, also where it has a verdict already; null: there is no such payout. */
export async function readUnexpectedPayout(
  sql: Sql,
  withdrawalId: string,
): Promise<UnexpectedPayout | null> {
  const found = payoutShape.first(
    await sql`
    SELECT w.id AS withdrawal_id, w.settlement_id, w.merchant_id, o.id AS outgoing_id, o.network, o.currency,
      o.amount, o.destination, w.created_at, a.txid, a.height,
      EXISTS (SELECT FROM book.inbox i WHERE i.merchant_id = w.merchant_id AND i.network = o.network
        AND i.txid = a.txid AND i.log_index = -1 AND i.phase = 'outcome' AND i.consumed_at IS NULL) AS is_quarantined
    FROM book.withdrawal w
    JOIN book.outgoing o ON o.id = w.outgoing_id AND o.merchant_id = w.merchant_id AND o.status = 'final'
    JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome = 'unexpected'
    WHERE w.id = ${withdrawalId}`,
  );
  if (found === null) return null;
  const { isQuarantined, ...payout } = found;
  const { merchantId, network, txid } = payout;
  const key = { merchantId, network, txid, logIndex: -1, phase: "outcome" } as const;
  return { ...payout, quarantined: isQuarantined ? key : null };
}
