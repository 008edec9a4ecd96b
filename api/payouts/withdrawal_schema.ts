/**
 * Withdrawals as merchants read them, and answers to withdrawals and settlements that were moved.
 *
 * @module
 */

import { z } from "zod";
import { FEE_INFO_EXAMPLE, feeInfoSchema } from "../http/fee_info.ts";
import {
  address,
  decimal,
  EXAMPLE,
  exampleId,
  fraction,
  id,
  madeBy,
  onePage,
  paginationSchema,
  shownCurrency,
  shownNetwork,
  timestamp,
  txHash,
} from "../http/formats.ts";

/** Statuses of a withdrawal. */
export const WITHDRAWAL_STATUSES = [
  "PENDING",
  "CONFIRMED",
  "FAILED",
  "CANCELLED",
  "PENDING_APPROVAL",
] as const;

const status = z.enum(WITHDRAWAL_STATUSES).meta({ id: "WithdrawalStatus" });

/** A row of the list. */
const withdrawalSchema = z.object({
  id: id("wd"),
  amount: decimal,
  currency: shownCurrency,
  network: shownNetwork,
  status,
  destination: address,
  referenceId: z.string().nullable().meta({ description: "Your reference" }),
  description: z.string().nullable(),
  txHash: txHash.nullable(),
  createdAt: timestamp,
  processedAt: timestamp.nullable().meta({ description: "When it ended; null before" }),
  fee: decimal.meta({ description: "The network fee that was locked" }),
  commission: decimal,
  commissionRate: fraction,
  createdBy: madeBy,
}).meta({ id: "Withdrawal" });

/** Answer of the list. */
export const withdrawalPage = z.object({
  withdrawals: z.array(withdrawalSchema),
  pagination: paginationSchema,
});

/** Answer to a new withdrawal. */
export const withdrawalCreated = z.object({
  success: z.literal(true),
  message: z.string(),
  withdrawalId: id("wd"),
  status: z.enum(["PENDING", "PENDING_APPROVAL"]),
  amount: decimal,
  currency: shownCurrency,
  network: shownNetwork,
  destination: address,
  feeInfo: feeInfoSchema,
}).meta({ id: "WithdrawalCreated" });

export const WITHDRAWAL_CREATED_EXAMPLE = {
  success: true,
  message: "Withdrawal created and being processed",
  withdrawalId: exampleId("wd"),
  status: "PENDING",
  amount: "10",
  currency: "USDT",
  network: "TRX",
  destination: EXAMPLE.address,
  feeInfo: FEE_INFO_EXAMPLE,
};

export const WITHDRAWAL_PAGE_EXAMPLE = {
  withdrawals: [{
    id: exampleId("wd"),
    amount: "10",
    currency: "USDT",
    network: "TRX",
    status: "CONFIRMED",
    destination: EXAMPLE.address,
    referenceId: "order-1001",
    description: null,
    txHash: EXAMPLE.txHash,
    createdAt: EXAMPLE.time,
    processedAt: EXAMPLE.later,
    fee: "1",
    commission: "1",
    commissionRate: "0",
    createdBy: exampleId("key"),
  }],
  pagination: onePage(10),
};

/** A withdrawal that was moved. */
export const withdrawalMoved = z.object({
  success: z.literal(true),
  withdrawalId: id("wd"),
  status: z.enum(WITHDRAWAL_STATUSES),
});

/** A withdrawal that its merchant took back. */
export const withdrawalCancelled = withdrawalMoved.extend({ message: z.string() });

export function withdrawalMovedExample(status: (typeof WITHDRAWAL_STATUSES)[number]) {
  return { success: true, withdrawalId: exampleId("wd"), status };
}
