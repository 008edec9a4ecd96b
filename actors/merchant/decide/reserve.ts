import { isExactIn, negate, ZERO } from "../../../ledger/amount.ts";
import { type WithdrawalFees, withdrawalFees } from "../../../ledger/fees.ts";
import type { Settings } from "../../../ledger/journal/read_settings.ts";
import { pairKey, tokenDecimals } from "../../../ledger/pair.ts";
import type { ChargeRow } from "../../../ledger/rows.ts";
import { decided, type Decision, post, refused, timeOf, type Verdict } from "../decision.ts";
import type { Reserve, Reserved } from "../messages.ts";
import type { MerchantView } from "../state.ts";

/**
 * Decides a withdrawal: the guards in the documented order, then the reservation, the statement
 * line, the charges and the payout's intent.
 */
export function reserve(
  view: MerchantView,
  settings: Settings,
  message: Reserve,
): Verdict<Reserved> {
  const { state } = view;
  const { currency, network, amount, referenceId } = message;
  const pair = settings.pairs.get(pairKey(currency, network));
  const decimals = tokenDecimals(currency, network);

  if (state.merchant.status !== "ACTIVE") return refused({ code: "merchant_not_active" });
  if (pair === undefined || !pair.withdrawalsEnabled) {
    return refused({ code: "withdrawals_closed_for_pair", currency, network });
  }
  if (amount <= 0n) return refused({ code: "amount_not_positive" });
  if (!isExactIn(amount, decimals)) return refused({ code: "amount_not_exact", decimals });
  if (amount < pair.minWithdrawal) {
    return refused({
      code: "below_minimum",
      minWithdrawal: pair.minWithdrawal,
      currency,
      network,
    });
  }
  if (message.destinationCheck === "invalid") return refused({ code: "destination_invalid" });
  if (message.destinationCheck === "ours") return refused({ code: "destination_is_ours" });
  const holder = referenceId === null ? undefined : view.holderOf(referenceId);
  if (holder !== undefined) return refused({ code: "reference_taken", withdrawalId: holder });
  const balance = state.balances.get(pairKey(currency, network));
  if (balance === undefined) return refused({ code: "no_balance_row", currency, network });
  const fees = withdrawalFees(amount, settings.fees, pair.networkFee, decimals);
  if (balance.available < fees.grossAmount) {
    return refused({
      code: "insufficient_balance",
      available: balance.available,
      requested: fees.grossAmount,
      currency,
      network,
      fees,
    });
  }
  if (message.liquidity !== null && message.liquidity < amount) {
    return refused({ code: "treasury_short" });
  }

  return decided(
    timeOf(state, message.at),
    { withdrawalId: message.withdrawalId, status: "PENDING", fees },
    reservation(view, message, fees),
  );
}

function reservation(
  view: MerchantView,
  message: Reserve,
  fees: WithdrawalFees,
): Partial<Decision> {
  const { state } = view;
  const { merchantId } = state.merchant;
  const { currency, network, amount, withdrawalId, destination } = message;
  const { referenceId, description } = message;
  const at = timeOf(state, message.at);
  const transactionSeq = state.transactionSeq + 1;
  const posting = { paymentId: withdrawalId, from: "available", currency, network } as const;
  return {
    postings: [
      ...post({ ...posting, leg: "reserve", to: "reserved", amount }),
      ...post({ ...posting, leg: "commission", to: "commission", amount: fees.commission }),
      ...post({ ...posting, leg: "network_fee", to: "network_fee", amount: fees.networkFee }),
    ],
    withdrawals: [{
      id: withdrawalId,
      merchantId,
      seq: state.withdrawalSeq + 1,
      transactionSeq,
      settlementId: null,
      outgoingId: message.outgoingId,
      currency,
      network,
      amount,
      baseFee: fees.baseFee,
      markupRate: fees.markupRate,
      markupAmount: fees.markupAmount,
      networkFee: fees.networkFee,
      margin: ZERO,
      marginTo: null,
      destination,
      referenceId,
      description,
      status: "PENDING",
      reason: null,
      txid: null,
      createdAt: at,
      processedAt: null,
    }],
    transactions: [{
      merchantId,
      seq: transactionSeq,
      id: message.transactionId,
      paymentId: withdrawalId,
      type: "WITHDRAWAL",
      status: "PENDING",
      currency,
      network,
      effect: negate(fees.grossAmount),
      fee: fees.totalFees,
      txid: null,
      height: null,
      fromAddress: null,
      toAddress: destination,
      referenceId,
      description,
      category: null,
      createdAt: at,
    }],
    charges: charges(state.chargeSeq, merchantId, message, fees, at),
    outgoing: [{
      id: message.outgoingId,
      merchantId,
      kind: "payout",
      paymentId: withdrawalId,
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
    }],
  };
}

function charges(
  seq: number,
  merchantId: string,
  message: Reserve,
  fees: WithdrawalFees,
  at: number,
): readonly ChargeRow[] {
  const taken = [
    { type: "WITHDRAWAL_COMMISSION", amount: fees.commission, id: message.chargeIds[0] },
    { type: "NETWORK_FEE", amount: fees.networkFee, id: message.chargeIds[1] },
  ] as const;
  return taken.filter((charge) => charge.amount > 0n).map((charge, index) => ({
    merchantId,
    seq: seq + 1 + index,
    id: charge.id,
    paymentId: message.withdrawalId,
    type: charge.type,
    currency: message.currency,
    network: message.network,
    amount: charge.amount,
    createdAt: at,
  }));
}
