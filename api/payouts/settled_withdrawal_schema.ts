import { z } from "zod";
import { decimal, exampleId } from "../http/formats.ts";

/** Answer to a verdict on a withdrawal. */
export const settledWithdrawal = z.object({
  success: z.literal(true),
  withdrawalId: z.string(),
  verdict: z.enum(["paid", "not_paid"]),
  status: z.enum(["CONFIRMED", "FAILED"]),
  changed: z.boolean().meta({ description: "False where the same verdict was given before" }),
  arrived: decimal.meta({ description: "What the chain shows to have reached the destination" }),
});

/** Example in the reference. */
export const SETTLED_WITHDRAWAL_EXAMPLE = {
  success: true,
  withdrawalId: exampleId("wd"),
  verdict: "not_paid",
  status: "FAILED",
  changed: true,
  arrived: "0",
};
