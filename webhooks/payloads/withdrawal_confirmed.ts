/**
 * Body of `withdrawal.confirmed`.
 *
 * @module
 */

import { add, type Amount, formatAmount, max, subtract, ZERO } from "../../ledger/money/amount.ts";
import type { Currency } from "../../ledger/money/pair.ts";
import { feeChargeType } from "./fee_charge_type.ts";

/** What the body is made of. */
export interface WithdrawalConfirmed {
  readonly eventId: string;
  readonly withdrawalId: string;
  readonly amount: Amount;
  readonly currency: Currency;
  readonly txHash: string | null;
  readonly referenceId: string | null;
  /** Where the payout went. */
  readonly address: string;
  /** Fixed part of the commission. */
  readonly baseFee: Amount;
  /** Proportional part of the commission. */
  readonly markupAmount: Amount;
  /** Decimal fraction of the proportional part, for example `"0.002"`. */
  readonly markupRate: string;
  readonly networkFee: Amount;
}

/** JSON text of the event, its keys in the order of the interface description. */
export function withdrawalConfirmedPayload(withdrawal: WithdrawalConfirmed): string {
  const commission = add(withdrawal.baseFee, withdrawal.markupAmount);
  return JSON.stringify({
    type: "withdrawal",
    withdrawalId: withdrawal.withdrawalId,
    amount: formatAmount(withdrawal.amount),
    currency: withdrawal.currency,
    status: "confirmed",
    txHash: withdrawal.txHash,
    referenceId: withdrawal.referenceId,
    address: withdrawal.address,
    identifier: withdrawal.referenceId,
    feeCharges: {
      amount: formatAmount(commission),
      percentage: withdrawal.markupRate,
      type: feeChargeType(withdrawal.markupAmount, withdrawal.baseFee),
      networkFee: formatAmount(withdrawal.networkFee),
    },
    receivableAmount: formatAmount(max(subtract(withdrawal.amount, commission), ZERO)),
    eventId: withdrawal.eventId,
  });
}
