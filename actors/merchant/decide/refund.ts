import { add, negate, ZERO } from "../../../ledger/money/amount.ts";
import type { TransactionRow, WithdrawalRow } from "../../../ledger/rows.ts";
import { withdrawalFailedPayload } from "../../../webhooks/payloads/withdrawal_failed.ts";
import { type Decision, post, timeOf } from "../decision.ts";
import type { EventIds } from "../messages.ts";
import type { MerchantView } from "../state.ts";
import { endEvents } from "./end_events.ts";
import { clawBackMargin } from "./margin.ts";

/** What a refund is stamped with. */
export interface RefundStamp {
  readonly at: number;
  readonly reason: string;
  readonly chargeIds: readonly [string, string];
  readonly eventIds: EventIds;
  /** The failed transaction, where one was included in a block. */
  readonly txid: string | null;
  readonly height: number | null;
}

/** What a refund looks at. */
export interface RefundView {
  readonly state: MerchantView["state"];
  readonly records: Pick<MerchantView["records"], "transactions">;
}

/** A withdrawal's statement line. */
export function lineOf(view: RefundView, withdrawal: WithdrawalRow): TransactionRow {
  const line = view.records.transactions.get(withdrawal.transactionSeq);
  if (line === undefined) {
    throw new Error(
      `Cannot change a withdrawal as its statement line is missing: ${withdrawal.id}`,
    );
  }
  return line;
}

/**
 * Everything that gives a withdrawal's money back: exactly what was reserved, charged and credited,
 * reversed; the reference released; the payout's row given up in the same commit.
 *
 * @param from the payout's state it is given up from (another state at commit time refuses it all),
 *   `final` where its transaction was found to have paid nothing, or `null` where it never had one,
 *   because nobody approved it
 */
export function refund(
  view: RefundView,
  withdrawal: WithdrawalRow,
  stamp: RefundStamp,
  from: "queued" | "dead" | "final" | null,
): Partial<Decision> {
  const { state } = view;
  const at = timeOf(state, stamp.at);
  const { id, merchantId, currency, network, amount, networkFee } = withdrawal;
  const commission = add(withdrawal.baseFee, withdrawal.markupAmount);
  const status = from === null ? "CANCELLED" : "FAILED";
  const posting = { paymentId: id, to: "available", currency, network } as const;
  const margin = clawBackMargin(withdrawal, commission, at);
  const reversals = [
    { amount: commission, id: stamp.chargeIds[0] },
    { amount: networkFee, id: stamp.chargeIds[1] },
  ].filter((charge) => charge.amount > 0n);
  const { txid, height, reason } = stamp;
  const postings = [
    ...post({ ...posting, leg: "refund", from: "reserved", amount }),
    ...margin.postings,
    ...post({ ...posting, leg: "commission_refund", from: "commission", amount: commission }),
    ...post({ ...posting, leg: "network_fee_refund", from: "network_fee", amount: networkFee }),
  ];
  const line: TransactionRow = { ...lineOf(view, withdrawal), status, effect: ZERO, txid, height };
  return {
    postings,
    withdrawals: [{ ...withdrawal, status, reason, txid, processedAt: at }],
    transactions: [line],
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
    margins: margin.rows,
    voided: from === null || from === "final"
      ? []
      : [{ id: withdrawal.outgoingId, merchantId, fromStatus: from, reason }],
    // settlements are read, not called back
    events: withdrawal.settlementId !== null ? [] : endEvents(state, {
      ids: stamp.eventIds,
      type: "withdrawal.failed",
      payload: (eventId) =>
        withdrawalFailedPayload({
          eventId,
          withdrawalId: id,
          amount,
          currency,
          reason,
          txHash: txid,
          referenceId: withdrawal.referenceId,
          address: withdrawal.destination,
        }),
      line,
      postings,
      at,
    }),
  };
}
