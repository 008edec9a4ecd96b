/**
 * Fees and margins as they are read.
 *
 * @module
 */

import { z } from "zod";
import {
  decimal,
  EXAMPLE,
  exampleId,
  id,
  onePage,
  paginationSchema,
  shownCurrency,
  shownNetwork,
  signedDecimal,
  timestamp,
} from "../http/formats.ts";

const type = z.enum([
  "ADDRESS_ACTIVATION",
  "DIRECT_DEPOSIT",
  "DEPOSIT_COMMISSION",
  "WITHDRAWAL_COMMISSION",
  "NETWORK_FEE",
  "REVERSAL",
]).meta({ id: "ChargeType" });

const charged = signedDecimal.meta({ description: "Negative where a fee was returned" });

/** Answer of the charge ledger. */
export const chargePage = z.object({
  charges: z.array(
    z.object({
      id: id("chg"),
      type,
      description: z.string().meta({ examples: ["Address activation fee (fixed)"] }),
      amount: charged,
      currency: shownCurrency,
      network: shownNetwork,
      depositId: id("dep").nullable(),
      withdrawalId: id("wd").nullable(),
      settlementId: id("stl").nullable(),
      createdAt: timestamp,
    }).meta({ id: "Charge" }),
  ),
  totals: z.array(z.object({
    type,
    currency: shownCurrency,
    network: shownNetwork,
    count: z.int().min(0),
    amount: charged,
  })).meta({ description: "Over everything that matches, not only this page" }),
  pagination: paginationSchema,
});

/** What the reference shows for the charge ledger. */
export const CHARGE_PAGE_EXAMPLE = {
  charges: [{
    id: exampleId("chg"),
    type: "ADDRESS_ACTIVATION",
    description: "Address activation fee (fixed)",
    amount: "0.5",
    currency: "USDT",
    network: "TRX",
    depositId: exampleId("dep"),
    withdrawalId: null,
    settlementId: null,
    createdAt: EXAMPLE.time,
  }],
  totals: [{
    type: "ADDRESS_ACTIVATION",
    currency: "USDT",
    network: "TRX",
    count: 1,
    amount: "0.5",
  }],
  pagination: onePage(20),
};

const earnings = z.array(
  z.object({
    currency: shownCurrency,
    network: shownNetwork,
    feeEvents: z.int().min(0).meta({ description: "Applied fee events" }),
    volume: decimal.meta({ description: "Summed base amounts" }),
    grossFeesCharged: decimal,
    marginEarned: decimal,
    reversed: decimal.meta({ description: "Clawed back, for example from failed payouts" }),
    net: signedDecimal.meta({ description: "marginEarned - reversed" }),
  }).meta({ id: "Earnings" }),
);

/** Answer of a merchant's earnings. */
export const merchantEarnings = z.object({ merchantId: id("mer"), earnings });

/** Answer of a reseller's earnings. */
export const resellerEarnings = z.object({
  resellerId: id("rsl"),
  merchantId: id("mer"),
  earnings,
});

const EARNED = {
  currency: "USDT",
  network: "TRX",
  feeEvents: 12,
  volume: "1200",
  grossFeesCharged: "18",
  marginEarned: "3.6",
  reversed: "0.2",
  net: "3.4",
};

/** What the reference shows for a merchant's earnings. */
export const MERCHANT_EARNINGS_EXAMPLE = { merchantId: exampleId("mer"), earnings: [EARNED] };

/** What the reference shows for a reseller's earnings. */
export const RESELLER_EARNINGS_EXAMPLE = {
  resellerId: exampleId("rsl"),
  merchantId: exampleId("mer"),
  earnings: [EARNED],
};
