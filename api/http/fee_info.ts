/**
 * A withdrawal's costs as they are shown.
 *
 * @module
 */

import { z } from "zod";
import { formatAmount } from "../../ledger/money/amount.ts";
import type { WithdrawalFees } from "../../ledger/money/fees.ts";
import { decimal, fraction } from "./formats.ts";

/** `feeInfo` of the interface: the debit, what arrives, and what makes up the difference. */
export function feeInfo(fees: WithdrawalFees) {
  const totalFee = formatAmount(fees.totalFees);
  return {
    grossAmount: formatAmount(fees.grossAmount),
    netAmount: formatAmount(fees.amount),
    totalFees: totalFee,
    feeBreakdown: {
      baseFee: formatAmount(fees.baseFee),
      markupRate: fees.markupRate,
      markupAmount: formatAmount(fees.markupAmount),
      networkFee: formatAmount(fees.networkFee),
      totalFee,
    },
  };
}

/** `feeInfo`. */
export const feeInfoSchema = z.object({
  grossAmount: decimal.meta({ description: "The whole debit: amount, commission, network fee" }),
  netAmount: decimal.meta({ description: "What the destination receives" }),
  totalFees: decimal.meta({ description: "Commission and network fee" }),
  feeBreakdown: z.object({
    baseFee: decimal.meta({ description: "Fixed part of the commission" }),
    markupRate: fraction,
    markupAmount: decimal.meta({ description: "Proportional part of the commission" }),
    networkFee: decimal.meta({ description: "Quoted now and locked" }),
    totalFee: decimal.meta({ description: "The same as totalFees" }),
  }),
}).meta({ id: "FeeInfo", description: "What a withdrawal costs" });

/** `feeInfo` of a withdrawal of 10 under the default settings. */
export const FEE_INFO_EXAMPLE = {
  grossAmount: "12",
  netAmount: "10",
  totalFees: "2",
  feeBreakdown: {
    baseFee: "1",
    markupRate: "0",
    markupAmount: "0",
    networkFee: "1",
    totalFee: "2",
  },
};
