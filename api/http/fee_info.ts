import { z } from "zod";
import type { WithdrawalFees } from "../../ledger/money/fees.ts";
import { eg } from "./example.ts";
import * as f from "./fields.ts";
import { shown } from "./shown.ts";

/** The costs of a withdrawal; the example has the default settings and an amount of 10. */
export const feeInfoSchema = z.object({
  grossAmount: eg(
    f.decimal.meta({ description: "The whole debit: amount, commission, network fee" }),
    "12",
  ),
  netAmount: eg(f.decimal.meta({ description: "Amount that the destination receives" }), "10"),
  totalFees: eg(f.decimal.meta({ description: "Commission and network fee" }), "2"),
  feeBreakdown: z.object({
    baseFee: eg(f.decimal.meta({ description: "Fixed part of the commission" }), "1"),
    markupRate: eg(f.fraction, "0"),
    markupAmount: eg(f.decimal.meta({ description: "Proportional part of the commission" }), "0"),
    networkFee: eg(f.decimal.meta({ description: "Quoted now and locked" }), "1"),
    totalFee: eg(f.decimal.meta({ description: "The same as totalFees" }), "2"),
  }),
}).meta({ id: "FeeInfo", description: "Cost of a withdrawal" });

/** `feeInfo` of the interface: the debit, what arrives, and what makes up the difference. */
export function feeInfo(fees: WithdrawalFees) {
  const { grossAmount, amount: netAmount, totalFees } = fees;
  const { baseFee, markupRate, markupAmount, networkFee } = fees;
  const feeBreakdown = { baseFee, markupRate, markupAmount, networkFee, totalFee: totalFees };
  return shown(feeInfoSchema, { grossAmount, netAmount, totalFees, feeBreakdown });
}
