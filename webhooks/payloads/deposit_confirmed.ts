/**
 * Body of `deposit.confirmed`.
 *
 * @module
 */

import { add, type Amount, formatAmount, ZERO } from "../../ledger/money/amount.ts";
import type { Currency } from "../../ledger/money/pair.ts";
import { type FeeChargeType, feeChargeType } from "./fee_charge_type.ts";

/** What the body is made of. */
export interface DepositConfirmed {
  readonly eventId: string;
  readonly depositId: string;
  readonly amount: Amount;
  readonly currency: Currency;
  /** As stored: `<merchant_id>_<identifier>`; null for a top-up or a manual deposit. */
  readonly identifier: string | null;
  readonly txHash: string | null;
  readonly referenceId: string | null;
  readonly address: string | null;
  /** True if this is a top-up of the merchant's own wallet. */
  readonly isTopUp: boolean;
  readonly commission: Amount;
  /** Decimal fraction, for example `"0.01"`. */
  readonly commissionRate: string;
  readonly activationFee: Amount;
  /** Flat fee of a top-up, otherwise zero. */
  readonly flatFee: Amount;
  /** What was credited: the amount minus all fees, never negative. */
  readonly receivable: Amount;
}

/** JSON text of the event, its keys in the order of the interface description. */
export function depositConfirmedPayload(deposit: DepositConfirmed): string {
  return JSON.stringify({
    type: "deposit",
    depositId: deposit.depositId,
    amount: formatAmount(deposit.amount),
    currency: deposit.currency,
    status: "confirmed",
    identifier: deposit.identifier,
    txHash: deposit.txHash,
    referenceId: deposit.referenceId,
    address: deposit.address,
    isMerchantDirectDeposit: deposit.isTopUp,
    feeCharges: {
      amount: formatAmount(deposit.isTopUp ? deposit.flatFee : deposit.commission),
      percentage: deposit.isTopUp ? "0" : deposit.commissionRate,
      type: typeOf(deposit),
      activationFee: {
        amount: formatAmount(deposit.activationFee),
        charged: deposit.activationFee > ZERO,
      },
    },
    receivableAmount: formatAmount(deposit.receivable),
    eventId: deposit.eventId,
  });
}

function typeOf(deposit: DepositConfirmed): FeeChargeType {
  if (deposit.isTopUp) return "FIXED_AMOUNT";
  return feeChargeType(deposit.commission, add(deposit.activationFee, deposit.flatFee));
}
