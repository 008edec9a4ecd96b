/**
 * Settlements and the whitelist as merchants read them.
 *
 * @module
 */

import { z } from "zod";
import {
  address,
  decimal,
  EXAMPLE,
  exampleId,
  id,
  madeBy,
  onePage,
  paginationSchema,
  shownCurrency,
  shownNetwork,
  timestamp,
} from "../http/formats.ts";

/** Statuses of a settlement. */
export const SETTLEMENT_STATUSES = [
  "PENDING",
  "APPROVAL_REQUIRED",
  "APPROVED",
  "PROCESSING",
  "SUBMITTED_TO_LEDGER",
  "COMPLETED",
  "FAILED",
  "CANCELLED",
  "REJECTED",
] as const;

const status = z.enum(SETTLEMENT_STATUSES).meta({ id: "SettlementStatus" });

const shown = {
  id: id("stl"),
  amount: decimal,
  currency: shownCurrency,
  network: shownNetwork,
  status,
  reason: z.string().nullable().meta({ description: "Why it ended without a payout" }),
  destinationAddress: address,
  destinationNetwork: shownNetwork,
  createdAt: timestamp,
  totalFees: decimal,
  merchantAddress: z.object({ address, label: z.string() }),
  withdrawalId: id("wd"),
  history: z.array(z.object({
    status,
    at: timestamp,
  })).meta({
    description: "Every state it was in, oldest first; several may be taken at one time",
  }),
  createdBy: madeBy,
};

/** A row of the list. */
export const settlementSchema = z.object(shown).meta({ id: "Settlement" });

/** Answer of the list. */
export const settlementPage = z.object({
  settlements: z.array(settlementSchema),
  pagination: paginationSchema,
});

/** Answer to a new settlement. */
export const settlementCreated = z.object({ ...shown, message: z.string() }).meta({
  id: "SettlementCreated",
});

/** A whitelisted address. */
export const settlementAddressSchema = z.object({
  id: id("adr"),
  address,
  network: shownNetwork,
  label: z.string(),
  active: z.boolean().meta({ description: "An administrator activates it" }),
  createdAt: timestamp,
}).meta({ id: "SettlementAddress" });

/** Answer of the whitelist. */
export const settlementAddressPage = z.object({
  settlementAddresses: z.array(settlementAddressSchema),
  pagination: paginationSchema,
});

/** A history as the reference shows it. */
function historyOf(...statuses: readonly (typeof SETTLEMENT_STATUSES)[number][]) {
  return statuses.map((status) => ({ status, at: EXAMPLE.time }));
}

const SETTLEMENT_EXAMPLE = {
  id: exampleId("stl"),
  amount: "5000",
  currency: "USDT",
  network: "TRX",
  status: "PROCESSING",
  reason: null,
  destinationAddress: EXAMPLE.address,
  destinationNetwork: "TRX",
  createdAt: EXAMPLE.time,
  totalFees: "2",
  merchantAddress: { address: EXAMPLE.address, label: "Company wallet" },
  withdrawalId: exampleId("wd"),
  history: historyOf("PENDING", "PROCESSING"),
  createdBy: exampleId("key"),
};

export const SETTLEMENT_CREATED_EXAMPLES = {
  belowThreshold: { ...SETTLEMENT_EXAMPLE, message: "Settlement created and being processed" },
  needsApproval: {
    ...SETTLEMENT_EXAMPLE,
    amount: "25000",
    status: "APPROVAL_REQUIRED",
    history: historyOf("PENDING", "APPROVAL_REQUIRED"),
    message: "Settlement created and awaiting admin approval",
  },
};

export const SETTLEMENT_CANCELLED_EXAMPLE = {
  ...SETTLEMENT_EXAMPLE,
  status: "CANCELLED",
  reason: "Cancelled",
  history: historyOf("PENDING", "APPROVAL_REQUIRED", "CANCELLED"),
};

export const SETTLEMENT_PAGE_EXAMPLE = {
  settlements: [{
    ...SETTLEMENT_EXAMPLE,
    status: "COMPLETED",
    history: historyOf("PENDING", "PROCESSING", "SUBMITTED_TO_LEDGER", "COMPLETED"),
  }],
  pagination: onePage(20),
};

export const SETTLEMENT_ADDRESS_EXAMPLE = {
  id: exampleId("adr"),
  address: EXAMPLE.address,
  network: "TRX",
  label: "Company wallet",
  active: false,
  createdAt: EXAMPLE.time,
};

export const SETTLEMENT_ADDRESS_PAGE_EXAMPLE = {
  settlementAddresses: [SETTLEMENT_ADDRESS_EXAMPLE],
  pagination: onePage(20),
};

/** A settlement that was moved. */
export const settlementMoved = z.object({
  success: z.literal(true),
  settlementId: id("stl"),
  status: z.enum(SETTLEMENT_STATUSES),
});

export function settlementMovedExample(status: (typeof SETTLEMENT_STATUSES)[number]) {
  return { success: true, settlementId: exampleId("stl"), status };
}
