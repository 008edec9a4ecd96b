/**
 * The word for what a payment was charged.
 *
 * @module
 */

import { type Amount, ZERO } from "../../ledger/money/amount.ts";

/** Values of `feeCharges.type`. */
export const FEE_CHARGE_TYPES = ["PERCENTAGE", "FIXED_AMOUNT", "HYBRID", "NONE"] as const;

/** One of {@linkcode FEE_CHARGE_TYPES}. */
export type FeeChargeType = (typeof FEE_CHARGE_TYPES)[number];

/** Names the kind of charge. */
export function feeChargeType(proportional: Amount, fixed: Amount): FeeChargeType {
  if (proportional > ZERO) return fixed > ZERO ? "HYBRID" : "PERCENTAGE";
  return fixed > ZERO ? "FIXED_AMOUNT" : "NONE";
}
