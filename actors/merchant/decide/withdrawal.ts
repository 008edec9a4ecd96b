import type { Settings } from "../../../ledger/settings.ts";
import { add, isExactIn, negate } from "../../../ledger/money/amount.ts";
import { networkFeeOf, type WithdrawalFees, withdrawalFees } from "../../../ledger/money/fees.ts";
import { pairKey, tokenDecimals } from "../../../ledger/money/pair.ts";
import type { PayoutOpening, TransactionRow, WithdrawalRow } from "../../../ledger/payment_rows.ts";
import type { OutgoingRow } from "../../../ledger/rows.ts";
import { apply, decided, type Decision, post, refused, timeOf, type Verb } from "../decision.ts";
import type { GiveUp, PayoutRequest } from "../messages.ts";
import type { Refusal } from "../refusal.ts";
import type { MerchantView } from "../state.ts";
import { approvedBy, isOwnRecord, madeBy } from "./audit.ts";
import { type PayoutView, refund } from "./end_payout.ts";
import { earnMargin } from "./margin.ts";
import { chargesOf, newLine } from "./statement.ts";

/** Decides a withdrawal: the guards in the documented order, then the payout's records. */
export const reserve: Verb<"reserve"> = (view, message, settings) => {
  const { state } = view;
  const { network, destination, referenceId, pinnedTo } = message;
  if (state.merchant.status !== "ACTIVE") return refused({ code: "merchant_not_active" });
  const fees = payoutFees(settings, message);
  if ("code" in fees) return refused(fees);
  if (message.destinationCheck === "invalid") return refused({ code: "destination_invalid" });
  if (message.destinationCheck === "ours") return refused({ code: "destination_is_ours" });
  if (pinnedTo !== null && (destination !== pinnedTo.address || network !== pinnedTo.network)) {
    return refused({ code: "destination_not_registered" });
  }
  const holder = referenceId === null ? undefined : view.records.holders.get(referenceId);
  if (holder !== undefined) return refused({ code: "reference_taken", withdrawalId: holder });
  const short = fundsRefusal(view, message, fees);
  if (short !== null) {
    return referenceId === null || view.records.hasReferences ? refused(short) : { kind: "unread" };
  }

  const needsApproval = pinnedTo !== null;
  const { withdrawalId, giveUp } = message;
  const at = timeOf(state, message.at);
  const opened = openPayout(view, message, { settlementId: null, needsApproval }, fees);
  if (needsApproval) return decided(at, { withdrawalId, status: "PENDING_APPROVAL", fees }, opened);
  if (giveUp === null) {
    const opening = openingOf(view, message, opened);
    return decided(at, { withdrawalId, status: "PENDING", fees }, { ...opened, opening });
  }
  const changes = giveUpAtOnce(view, opened, { ...giveUp, at });
  return decided(at, { withdrawalId, status: "FAILED", fees }, changes);
};

/** The fees of a payout as its pair charges them; a refusal where the pair does not pay it. */
export function payoutFees(
  settings: Settings,
  { currency, network, amount, dynamicFee }: PayoutRequest,
): WithdrawalFees | Refusal {
  const pair = settings.pairs.get(pairKey(currency, network));
  const decimals = tokenDecimals(currency, network);
  if (pair === undefined || !pair.withdrawalsEnabled) {
    return { code: "withdrawals_closed_for_pair", currency, network };
  }
  if (amount <= 0n) return { code: "amount_not_positive" };
  if (!isExactIn(amount, decimals)) return { code: "amount_not_exact", decimals };
  if (amount < pair.minWithdrawal) {
    return { code: "below_minimum", minWithdrawal: pair.minWithdrawal, currency, network };
  }
  return withdrawalFees(amount, settings.fees, networkFeeOf(pair, dynamicFee), decimals);
}

type Pair = Pick<PayoutRequest, "currency" | "network">;

/** The refusal of a payout that cannot be funded, in the documented order; `null` for any other. */
export function fundsRefusal(
  view: MerchantView,
  pair: Pair,
  fees: WithdrawalFees,
): Refusal | null {
  const short = balanceRefusal(view, pair, fees);
  if (short !== null) return short;
  const left = view.liquidity.left(pair.network, pair.currency);
  return left !== null && left < fees.amount ? { code: "treasury_short" } : null;
}

/** The refusal of a payout that its merchant cannot pay; `null` for any other. */
export function balanceRefusal(
  { state }: Pick<MerchantView, "state">,
  { currency, network }: Pair,
  fees: WithdrawalFees,
): Refusal | null {
  const balance = state.balances.get(pairKey(currency, network));
  if (balance === undefined) return { code: "no_balance_row", currency, network };
  const { available } = balance;
  const requested = fees.grossAmount;
  if (available >= requested) return null;
  return { code: "insufficient_balance", available, requested, currency, network, fees };
}

/** Lets a waiting withdrawal go to the treasury. Approving it again changes nothing. */
export const approveWithdrawal: Verb<"approve-withdrawal"> = (view, message) => {
  const withdrawal = view.records.withdrawals.get(message.withdrawalId);
  if (withdrawal === undefined || withdrawal.settlementId !== null) {
    return refused({ code: "record_not_found" });
  }
  const at = timeOf(view.state, message.at);
  const { status } = withdrawal;
  const approved = status === "PENDING" || status === "CONFIRMED" || status === "FAILED";
  if (approved) return decided(at, { status, changed: false }, {});
  if (status !== "PENDING_APPROVAL") {
    return refused({ code: "wrong_state", from: status, to: "PENDING" });
  }
  if (isOwnRecord(withdrawal, message.audit) || message.isFundedByApprover === true) {
    return refused({ code: "same_administrator" });
  }
  return decided(at, { status: "PENDING", changed: true }, {
    withdrawals: [{ ...withdrawal, ...approvedBy(message.audit), status: "PENDING" }],
    outgoing: [outgoingRow(withdrawal, at)],
  });
};

/** Turns a waiting withdrawal down (administrator) or back (merchant): refunded, reference freed. */
export const declineWithdrawal: Verb<"decline-withdrawal"> = (view, message) => {
  const withdrawal = view.records.withdrawals.get(message.withdrawalId);
  if (withdrawal === undefined || withdrawal.settlementId !== null) {
    return refused({ code: "record_not_found" });
  }
  const { status } = withdrawal;
  if (status !== "PENDING_APPROVAL") {
    return refused({ code: "wrong_state", from: status, to: "CANCELLED" });
  }
  const changes = refund(view, withdrawal, message, null);
  return decided(timeOf(view.state, message.at), { status: "CANCELLED" }, changes);
};

/** A payout that a withdrawal or a settlement asks for. */
export interface OpenRequest extends PayoutRequest {
  readonly referenceId: string | null;
  readonly description: string | null;
}

/** The terms on which a payout is opened. */
export interface Beginning {
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
  { settlementId, needsApproval }: Beginning,
  fees: WithdrawalFees,
): Partial<Decision> {
  const { state } = view;
  const { merchantId } = state.merchant;
  const { currency, network, withdrawalId: id } = request;
  const { outgoingId, destination, referenceId, description } = request;
  const { amount, baseFee, markupRate, markupAmount, commission, networkFee } = fees;
  const at = timeOf(state, request.at);
  const payment = { id, currency, network };
  const margin = earnMargin(state.merchant, { id, currency, network, volume: amount, at }, [
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
  const { createdBy, createdAdmin, approvedBy, approvedAdmin } = madeBy(request);
  // field by field, here and below: a long literal that begins with a copy takes six times as long
  const withdrawal: WithdrawalRow = {
    id,
    currency,
    network,
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
    createdBy,
    createdAdmin,
    approvedBy,
    approvedAdmin,
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

/** The row that all rows of an ordinary payout follow from; see {@linkcode PayoutOpening}. */
function openingOf(
  { state }: MerchantView,
  { chargeIds: [commissionChargeId, networkFeeChargeId] }: Pick<PayoutRequest, "chargeIds">,
  { withdrawals = [], transactions = [] }: Partial<Decision>,
): PayoutOpening {
  const { withdrawal, line } = onlyOne({ withdrawals, transactions });
  const { id, merchantId, seq, transactionSeq, outgoingId, currency, network } = withdrawal;
  const { amount, baseFee, markupRate, markupAmount, networkFee, margin, marginTo } = withdrawal;
  const { destination, referenceId, description, createdAt, createdBy, createdAdmin } = withdrawal;
  if (seq === null) throw new Error("Cannot open a payout as it is not listed");
  return {
    id,
    merchantId,
    seq,
    transactionId: line.id,
    transactionSeq,
    chargeSeq: state.chargeSeq + 1,
    commissionChargeId,
    networkFeeChargeId,
    outgoingId,
    currency,
    network,
    amount,
    baseFee,
    markupRate,
    markupAmount,
    networkFee,
    margin,
    marginTo,
    effect: line.effect,
    destination,
    fromAddress: line.fromAddress,
    referenceId,
    description,
    createdAt,
    createdBy,
    createdAdmin,
  };
}

/** The withdrawal that was opened, and its line. */
function onlyOne(
  { withdrawals: [withdrawal], transactions: [line] }: Pick<
    Decision,
    "withdrawals" | "transactions"
  >,
): { readonly withdrawal: WithdrawalRow; readonly line: TransactionRow } {
  if (withdrawal === undefined || line === undefined) {
    throw new Error("Cannot go on with a payout as it was not opened");
  }
  return { withdrawal, line };
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
  const { withdrawal, line } = onlyOne(opened);
  const records = { transactions: new Map([[line.seq, line]]), settlements: new Map() };
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
    outgoing: opened.outgoing.map((row) => ({ ...row, status: "void", reason: giveUp.reason })),
    voided: [],
  };
}
