/**
 * How a withdrawal's costs are shown.
 *
 * @module
 */

import { formatAmount } from "../../ledger/money/amount.ts";
import type { WithdrawalFees } from "../../ledger/money/fees.ts";

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
