import { add, negate } from "../../../ledger/money/amount.ts";
import type { WithdrawalFees } from "../../../ledger/money/fees.ts";
import type { WithdrawalRow } from "../../../ledger/payment_rows.ts";
import type { OutgoingRow } from "../../../ledger/rows.ts";
import { apply, decided, type Decision, post, timeOf } from "../decision.ts";
import type { GiveUp, PayoutRequest } from "../messages.ts";
import type { MerchantView } from "../state.ts";
import { madeBy } from "./audit.ts";
import { type PayoutView, refund } from "./end_payout.ts";
import { earnMargin } from "./margin.ts";
import { chargesOf, newLine } from "./statement.ts";

/** A payout that a withdrawal or a settlement asks for. */
export interface OpenRequest extends PayoutRequest {
  readonly referenceId: string | null;
  readonly description: string | null;
  /** The settlement that it carries out, null for a withdrawal. */
  readonly settlementId: string | null;
  /** True where it waits for an administrator before anything can leave. */
  readonly needsApproval: boolean;
}

/**
 * The records of a payout as it begins: funds reserved, fees charged, the statement line, and the
 * treasury's row, unless an administrator has to approve first.
 */
export function openPayout(
  view: MerchantView,
  request: OpenRequest,
  fees: WithdrawalFees,
): Partial<Decision> {
  const { state } = view;
  const { merchantId } = state.merchant;
  const { currency, network, withdrawalId: id, settlementId, needsApproval } = request;
  const { outgoingId, destination, referenceId, description } = request;
  const { amount, baseFee, markupRate, markupAmount, commission, networkFee } = fees;
  const at = timeOf(state, request.at);
  const payment = { id, currency, network };
  const margin = earnMargin(state.merchant, { ...payment, volume: amount, at }, [
    { leg: "commission", account: "commission", fee: commission },
  ]);
  const line = newLine(state, {
    id: request.transactionId,
    paymentId: id,
    type: settlementId === null ? "WITHDRAWAL" : "SETTLEMENT",
    currency,
    network,
    effect: add(negate(fees.grossAmount), margin.own),
    fee: fees.totalFees,
    fromAddress: request.fromAddress,
    toAddress: destination,
    referenceId,
    description,
    createdAt: at,
  });
  const withdrawal: WithdrawalRow = {
    ...payment,
    merchantId,
    seq: settlementId === null ? state.withdrawalSeq + 1 : null,
    transactionSeq: line.seq,
    settlementId,
    outgoingId,
    amount,
    baseFee,
    markupRate,
    markupAmount,
    networkFee,
    margin: margin.amount,
    marginTo: margin.to,
    destination,
    referenceId,
    description,
    status: needsApproval ? "PENDING_APPROVAL" : "PENDING",
    reason: null,
    txid: null,
    createdAt: at,
    processedAt: null,
    ...madeBy(request),
  };
  const [commissionId, networkFeeId] = request.chargeIds;
  const from = "available";
  return {
    postings: [
      ...post(payment, { leg: "reserve", from, to: "reserved", amount }),
      ...post(payment, { leg: "commission", from, to: "commission", amount: commission }),
      ...post(payment, { leg: "network_fee", from, to: "network_fee", amount: networkFee }),
      ...margin.postings,
    ],
    withdrawals: [withdrawal],
    transactions: [line],
    charges: chargesOf(state, payment, [
      { type: "WITHDRAWAL_COMMISSION", amount: commission, id: commissionId },
      { type: "NETWORK_FEE", amount: networkFee, id: networkFeeId },
    ], at),
    outgoing: needsApproval ? [] : [outgoingRow(withdrawal, at)],
    margins: margin.rows,
  };
}

/** The treasury's row of a withdrawal. */
export function outgoingRow(withdrawal: WithdrawalRow, at: number): OutgoingRow {
  const { outgoingId: id, merchantId, network, currency, amount, destination } = withdrawal;
  return {
    id,
    merchantId,
    kind: withdrawal.settlementId === null ? "payout" : "settlement",
    paymentId: withdrawal.id,
    network,
    currency,
    amount,
    wallet: "hot",
    destination,
    status: "queued",
    reason: null,
    attempts: 0,
    leaseUntil: null,
    createdAt: at,
    updatedAt: at,
  };
}

/**
 * A payout that was opened and is ended in the same commit: its withdrawal, and what its end reads.
 *
 * @param opened the records as `openPayout` makes them
 * @throws when there is not exactly one withdrawal and one statement line
 */
export function afterOpening(
  view: Pick<MerchantView, "state" | "records">,
  opened: Decision,
): { readonly withdrawal: WithdrawalRow; readonly after: PayoutView } {
  const { withdrawals: [withdrawal], transactions: [line] } = opened;
  if (withdrawal === undefined || line === undefined) {
    throw new Error("Cannot end a payout as it was not opened");
  }
  const records = { transactions: new Map([[line.seq, line]]) };
  return { withdrawal, after: { state: apply(view, opened), records } };
}

/**
 * The records of a payout that is refunded in the commit that makes it: what was reserved and charged
 * is there with its reversal, and the treasury's row is inserted as void, so that no moment exists
 * in which it could be signed.
 *
 * @param changes the records as `openPayout` makes them, with a row of the treasury's
 */
export function giveUpAtOnce(
  view: Pick<MerchantView, "state" | "records">,
  changes: Partial<Decision>,
  giveUp: GiveUp & { readonly at: number },
): Partial<Decision> {
  const opened = decided(giveUp.at, null, changes).decision;
  const { withdrawal, after } = afterOpening(view, opened);
  const back = refund(after, withdrawal, giveUp, "queued");
  return {
    ...back,
    postings: [...opened.postings, ...back.postings],
    charges: [...opened.charges, ...back.charges],
    margins: [...opened.margins, ...back.margins],
    outgoing: opened.outgoing.map((row): OutgoingRow => ({
      ...row,
      status: "void",
      reason: giveUp.reason,
    })),
    voided: [],
  };
}
