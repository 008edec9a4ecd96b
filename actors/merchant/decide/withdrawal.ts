import type { Settings } from "../../../ledger/journal/read_settings.ts";
import { isExactIn } from "../../../ledger/money/amount.ts";
import { networkFeeOf, type WithdrawalFees, withdrawalFees } from "../../../ledger/money/fees.ts";
import { type Currency, type Network, pairKey, tokenDecimals } from "../../../ledger/money/pair.ts";
import { decided, type DecisionResult, refused, timeOf } from "../decision.ts";
import type {
  ApproveWithdrawal,
  DeclineWithdrawal,
  PayoutRequest,
  Reserve,
  Reserved,
} from "../messages.ts";
import type { Answers } from "../merchants.ts";
import type { Refusal } from "../refusal.ts";
import type { MerchantView } from "../state.ts";
import { approvedBy, isOwnRecord } from "./audit.ts";
import { refund } from "./end_payout.ts";
import { giveUpAtOnce, openPayout, outgoingRow } from "./open_payout.ts";

/** Decides a withdrawal: the guards in the documented order, then the payout's records. */
export function reserve(
  view: MerchantView,
  settings: Settings,
  message: Reserve,
): DecisionResult<Reserved> {
  const { state } = view;
  const { currency, network, destination, referenceId, pinnedTo } = message;
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
  const short = fundsRefusal(view, currency, network, fees);
  if (short !== null) return refused(short);

  const needsApproval = pinnedTo !== null;
  const at = timeOf(state, message.at);
  const { withdrawalId, giveUp } = message;
  const opened = openPayout(view, { ...message, settlementId: null, needsApproval }, fees);
  if (needsApproval) return decided(at, { withdrawalId, status: "PENDING_APPROVAL", fees }, opened);
  if (giveUp === null) return decided(at, { withdrawalId, status: "PENDING", fees }, opened);
  const changes = giveUpAtOnce(view, opened, { ...giveUp, at });
  return decided(at, { withdrawalId, status: "FAILED", fees }, changes);
}

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

/** The refusal of a payout that cannot be funded, in the documented order; `null` for any other. */
export function fundsRefusal(
  view: MerchantView,
  currency: Currency,
  network: Network,
  fees: WithdrawalFees,
): Refusal | null {
  const short = balanceRefusal(view, currency, network, fees);
  if (short !== null) return short;
  const left = view.liquidity.left(network, currency);
  return left !== null && left < fees.amount ? { code: "treasury_short" } : null;
}

/** The refusal of a payout that its merchant cannot pay; `null` for any other. */
export function balanceRefusal(
  { state }: Pick<MerchantView, "state">,
  currency: Currency,
  network: Network,
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
export function approveWithdrawal(
  view: MerchantView,
  message: ApproveWithdrawal,
): DecisionResult<Answers["approve-withdrawal"]> {
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
}

/** Turns a waiting withdrawal down (administrator) or back (merchant): refunded, reference freed. */
export function declineWithdrawal(
  view: MerchantView,
  message: DeclineWithdrawal,
): DecisionResult<Answers["decline-withdrawal"]> {
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
}
