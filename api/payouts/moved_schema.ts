/**
 * Answers to withdrawals and settlements that an administrator or their merchant moved.
 *
 * @module
 */

import { z } from "zod";
import { exampleId, id } from "../http/formats.ts";
import { SETTLEMENT_STATUSES } from "./settlement_schema.ts";
import { WITHDRAWAL_STATUSES } from "./withdrawal_schema.ts";

/** A withdrawal that was moved. */
export const withdrawalMoved = z.object({
  success: z.literal(true),
  withdrawalId: id("wd"),
  status: z.enum(WITHDRAWAL_STATUSES),
});

/** A withdrawal that its merchant took back. */
export const withdrawalCancelled = withdrawalMoved.extend({ message: z.string() });

/** A settlement that was moved. */
export const settlementMoved = z.object({
  success: z.literal(true),
  settlementId: id("stl"),
  status: z.enum(SETTLEMENT_STATUSES),
});

/** What the reference shows for a withdrawal in a status. */
export function withdrawalMovedExample(status: (typeof WITHDRAWAL_STATUSES)[number]) {
  return { success: true, withdrawalId: exampleId("wd"), status };
}

/** What the reference shows for a settlement in a status. */
export function settlementMovedExample(status: (typeof SETTLEMENT_STATUSES)[number]) {
  return { success: true, settlementId: exampleId("stl"), status };
}
