import { isExactIn } from "../../../ledger/money/amount.ts";
import { networkFeeOf, type WithdrawalFees, withdrawalFees } from "../../../ledger/money/fees.ts";
import type { Settings } from "../../../ledger/journal/read_settings.ts";
import { type Currency, type Network, pairKey, tokenDecimals } from "../../../ledger/money/pair.ts";
import { decided, refused, timeOf, type Verdict } from "../decision.ts";
import type { Reserve, Reserved } from "../messages.ts";
import type { Refusal } from "../refusal.ts";
import type { MerchantView } from "../state.ts";
import { openPayout } from "./open_payout.ts";

/** Decides a withdrawal: the guards in the documented order, then the payout's records. */
export function reserve(
  view: MerchantView,
  settings: Settings,
  message: Reserve,
): Verdict<Reserved> {
  const { state } = view;
  const { currency, network, amount, destination, referenceId, pinnedTo } = message;
  const pair = settings.pairs.get(pairKey(currency, network));
  const decimals = tokenDecimals(currency, network);

  if (state.merchant.status !== "ACTIVE") return refused({ code: "merchant_not_active" });
  if (pair === undefined || !pair.withdrawalsEnabled) {
    return refused({ code: "withdrawals_closed_for_pair", currency, network });
  }
  if (amount <= 0n) return refused({ code: "amount_not_positive" });
  if (!isExactIn(amount, decimals)) return refused({ code: "amount_not_exact", decimals });
  if (amount < pair.minWithdrawal) {
    return refused({ code: "below_minimum", minWithdrawal: pair.minWithdrawal, currency, network });
  }
  if (message.destinationCheck === "invalid") return refused({ code: "destination_invalid" });
  if (message.destinationCheck === "ours") return refused({ code: "destination_is_ours" });
  if (pinnedTo !== null && (destination !== pinnedTo.address || network !== pinnedTo.network)) {
    return refused({ code: "destination_not_registered" });
  }
  const holder = referenceId === null ? undefined : view.holderOf(referenceId);
  if (holder !== undefined) return refused({ code: "reference_taken", withdrawalId: holder });
  const networkFee = networkFeeOf(pair, message.dynamicFee);
  const fees = withdrawalFees(amount, settings.fees, networkFee, decimals);
  const short = fundsRefusal(view, currency, network, fees);
  if (short !== null) return refused(short);

  const needsApproval = pinnedTo !== null;
  const request = { ...message, settlementId: null, needsApproval };
  return decided(
    timeOf(state, message.at),
    {
      withdrawalId: message.withdrawalId,
      status: needsApproval ? "PENDING_APPROVAL" : "PENDING",
      fees,
    },
    openPayout(view, request, fees),
  );
}

/** Why a payout cannot be funded, in the documented order; `null` when it can. */
export function fundsRefusal(
  view: MerchantView,
  currency: Currency,
  network: Network,
  fees: WithdrawalFees,
): Refusal | null {
  const short = balanceRefusal(view, currency, network, fees);
  if (short !== null) return short;
  const left = view.hotFunds.left(network, currency);
  return left !== null && left < fees.amount ? { code: "treasury_short" } : null;
}

/** Why the merchant cannot pay for a payout; `null` when it can. */
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
