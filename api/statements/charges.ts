/**
 * Charges and earnings of an account.
 *
 * @module
 */

import { z } from "zod";
import { listCharges, type ListedCharge, sumCharges } from "../../ledger/charges.ts";
import { type MarginTotal, sumMargins } from "../../ledger/margins.ts";
import { subtract } from "../../ledger/money/amount.ts";
import type { ChargeRow } from "../../ledger/payment_rows.ts";
import { ok } from "../http/answer.ts";
import { refuseReversed, refuseUnknownMerchant } from "../http/checks.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { dates, ofPair, paged, pages, pagination } from "../http/list.ts";
import { route } from "../http/route.ts";
import { shown } from "../http/shown.ts";

/** Types of charges, by what they are called. */
const DESCRIPTIONS: Readonly<Record<ChargeRow["type"], string>> = {
  ADDRESS_ACTIVATION: "Address activation fee (fixed)",
  DIRECT_DEPOSIT: "Direct deposit fee (fixed)",
  DEPOSIT_COMMISSION: "Deposit commission (percentage)",
  WITHDRAWAL_COMMISSION: "Withdrawal commission",
  NETWORK_FEE: "Network fee",
  REVERSAL: "Fee returned",
};

const TYPES = Object.keys(DESCRIPTIONS) as (keyof typeof DESCRIPTIONS)[];
const type = eg(z.enum(TYPES).meta({ id: "ChargeType" }), "ADDRESS_ACTIVATION");
const charged = eg(
  f.signedDecimal.meta({ description: "Negative where a fee was returned" }),
  "0.5",
);

const charge = z.object({
  id: f.id("chg"),
  type,
  description: eg(
    z.string().meta({ examples: ["Address activation fee (fixed)"] }),
    "Address activation fee (fixed)",
  ),
  amount: charged,
  currency: f.currency,
  network: f.network,
  depositId: f.id("dep").nullable(),
  withdrawalId: eg(f.id("wd").nullable(), null),
  settlementId: eg(f.id("stl").nullable(), null),
  createdAt: f.timestamp,
}).meta({ id: "Charge" });

const chargeTotal = z.object({
  type,
  currency: f.currency,
  network: f.network,
  count: eg(z.int().min(0), 1),
  amount: charged,
});

const chargePage = z.object({
  charges: z.array(charge),
  totals: z.array(chargeTotal).meta({
    description: "Over everything that matches, not only this page",
  }),
  pagination: paged(),
});

const earned = z.object({
  currency: f.currency,
  network: f.network,
  feeEvents: eg(z.int().min(0).meta({ description: "Applied fee events" }), 12),
  volume: eg(f.decimal.meta({ description: "Summed base amounts" }), "1200"),
  grossFeesCharged: eg(f.decimal, "18"),
  marginEarned: eg(f.decimal, "3.6"),
  reversed: eg(
    f.decimal.meta({ description: "Clawed back, for example from failed payouts" }),
    "0.2",
  ),
  net: eg(f.signedDecimal.meta({ description: "marginEarned - reversed" }), "3.4"),
}).meta({ id: "Earnings" });

export const earnings = z.array(earned);

export const getCharges = route({
  at: "GET /api/merchants/{merchantId}/charges",
  summary: "Fees of a merchant with their totals, newest first",
  access: { scope: "named", anyOf: ["read"], adminAnyOf: ["admin:read", "admin:write"] },
  rateCategory: "transactions",
  query: z.object({
    ...pages(),
    type: z.enum(TYPES).optional(),
    ...ofPair,
    ...dates,
  }),
  responses: {
    200: {
      description: "One page of charges, and the totals of all that match",
      schema: chargePage,
    },
  },
  errors: ["record_not_found", "validation_failed"],
  handler: async ({ caller, merchantId, query }, { sql }) => {
    const refusal = refuseReversed(query) ?? await refuseUnknownMerchant(sql, caller, merchantId);
    if (refusal !== null) return refusal;
    const filter = { ...query, from: query.startDate, until: query.endDate };
    const [charges, totals] = await Promise.all([
      listCharges(sql, merchantId, filter, query),
      sumCharges(sql, merchantId, filter),
    ]);
    const total = totals.reduce((sum, { count }) => sum + count, 0);
    return ok({
      charges: charges.map(chargeView),
      totals: totals.map((total) => shown(chargeTotal, total)),
      pagination: pagination(query, total),
    });
  },
});

function chargeView(row: ListedCharge) {
  const isDeposit = row.paymentId.startsWith("dep_");
  return shown(charge, {
    ...row,
    description: DESCRIPTIONS[row.type],
    depositId: isDeposit ? row.paymentId : null,
    withdrawalId: isDeposit ? null : row.paymentId,
  });
}

export const getEarnings = route({
  at: "GET /api/merchants/{merchantId}/earnings",
  summary: "Fee margins of a merchant, per pair",
  access: { scope: "named", anyOf: ["read"], adminAnyOf: ["admin:read", "admin:write"] },
  rateCategory: "transactions",
  query: z.object(dates),
  responses: {
    200: {
      description: "Earnings per pair",
      schema: z.object({ merchantId: f.id("mer"), earnings }),
    },
  },
  errors: ["record_not_found", "validation_failed"],
  handler: async ({ caller, merchantId, query }, { sql }) => {
    const refusal = refuseReversed(query) ?? await refuseUnknownMerchant(sql, caller, merchantId);
    if (refusal !== null) return refusal;
    const range = { from: query.startDate, until: query.endDate };
    const totals = await sumMargins(sql, merchantId, range, "all");
    return ok({ merchantId, earnings: totals.map(earningsView) });
  },
});

/** One pair's margins as they are shown. */
export function earningsView(total: MarginTotal) {
  return shown(earned, {
    ...total,
    grossFeesCharged: total.fees,
    marginEarned: total.earned,
    net: subtract(total.earned, total.reversed),
  });
}
