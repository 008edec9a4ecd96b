import { add, negate, ZERO } from "../../../ledger/amount.ts";
import type { WithdrawalRow } from "../../../ledger/rows.ts";
import { withdrawalFailedPayload } from "../../../webhooks/payloads/withdrawal_failed.ts";
import { type Decision, eventRow, post, timeOf } from "../decision.ts";
import type { MerchantView } from "../state.ts";

/** What a refund is stamped with. */
export interface RefundStamp {
  readonly at: number;
  readonly reason: string;
  readonly chargeIds: readonly [string, string];
  readonly eventId: string;
  /** The failed transaction, where one was included in a block. */
  readonly txid: string | null;
  readonly height: number | null;
}

/**
 * Everything that gives a pending withdrawal's money back: exactly what was reserved and charged,
 * reversed; the reference released; the payout's row given up in the same commit.
 *
 * @param from the payout's state it is given up from; another state at commit time refuses it all
 */
export function refund(
  view: MerchantView,
  withdrawal: WithdrawalRow,
  stamp: RefundStamp,
  from: "queued" | "dead",
): Partial<Decision> {
  const { state } = view;
  const at = timeOf(state, stamp.at);
  const { id, merchantId, currency, network, amount, networkFee } = withdrawal;
  const commission = add(withdrawal.baseFee, withdrawal.markupAmount);
  const line = view.records.transactions.get(withdrawal.transactionSeq);
  if (line === undefined) {
    throw new Error(`Cannot refund a withdrawal as its statement line is missing: ${id}`);
  }
  const posting = { paymentId: id, to: "available", currency, network } as const;
  const reversals = [
    { amount: commission, id: stamp.chargeIds[0] },
    { amount: networkFee, id: stamp.chargeIds[1] },
  ].filter((charge) => charge.amount > 0n);
  return {
    postings: [
      ...post({ ...posting, leg: "refund", from: "reserved", amount }),
      ...post({ ...posting, leg: "commission_refund", from: "commission", amount: commission }),
      ...post({ ...posting, leg: "network_fee_refund", from: "network_fee", amount: networkFee }),
    ],
    withdrawals: [{
      ...withdrawal,
      status: "FAILED",
      reason: stamp.reason,
      txid: stamp.txid,
      processedAt: at,
    }],
    transactions: [{
      ...line,
      status: "FAILED",
      effect: ZERO,
      txid: stamp.txid,
      height: stamp.height,
    }],
    charges: reversals.map((charge, index) => ({
      merchantId,
      seq: state.chargeSeq + 1 + index,
      id: charge.id,
      paymentId: id,
      type: "REVERSAL",
      currency,
      network,
      amount: negate(charge.amount),
      createdAt: at,
    })),
    voided: [{ id: withdrawal.outgoingId, merchantId, fromStatus: from, reason: stamp.reason }],
    events: [eventRow(state, {
      id: stamp.eventId,
      paymentId: id,
      type: "withdrawal.failed",
      at,
      payload: withdrawalFailedPayload({
        eventId: stamp.eventId,
        withdrawalId: id,
        amount,
        currency,
        reason: stamp.reason,
        txHash: stamp.txid,
        referenceId: withdrawal.referenceId,
        address: withdrawal.destination,
      }),
    })],
  };
}
