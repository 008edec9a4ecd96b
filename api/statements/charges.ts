/**
 * Charges and earnings of an account.
 *
 * @module
 */

import { z } from "zod";
import {
  type ChargeTotal,
  listCharges,
  type ListedCharge,
  sumCharges,
} from "../../ledger/charges.ts";
import { type MarginTotal, sumMargins } from "../../ledger/margins.ts";
import { formatAmount, subtract } from "../../ledger/money/amount.ts";
import type { ChargeRow } from "../../ledger/rows.ts";
import { ok } from "../http/answer.ts";
import { refuseReversed, refuseUnknownMerchant } from "../http/checks.ts";
import { currency, endDate, limit, network, page, startDate } from "../http/fields.ts";
import {
  decimal,
  EXAMPLE,
  exampleId,
  id,
  onePage,
  pagination,
  paginationSchema,
  shownCurrency,
  shownNetwork,
  signedDecimal,
  timestamp,
} from "../http/formats.ts";
import { keyedRoute } from "../http/route.ts";

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
const chargePage = z.object({
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

const CHARGE_PAGE_EXAMPLE = {
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
const merchantEarnings = z.object({ merchantId: id("mer"), earnings });

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

const MERCHANT_EARNINGS_EXAMPLE = { merchantId: exampleId("mer"), earnings: [EARNED] };

export const RESELLER_EARNINGS_EXAMPLE = {
  resellerId: exampleId("rsl"),
  merchantId: exampleId("mer"),
  earnings: [EARNED],
};

/** The name of a charge. */
const DESCRIPTIONS: Readonly<Record<ChargeRow["type"], string>> = {
  ADDRESS_ACTIVATION: "Address activation fee (fixed)",
  DIRECT_DEPOSIT: "Direct deposit fee (fixed)",
  DEPOSIT_COMMISSION: "Deposit commission (percentage)",
  WITHDRAWAL_COMMISSION: "Withdrawal commission",
  NETWORK_FEE: "Network fee",
  REVERSAL: "Fee returned",
};

const TYPES = Object.keys(DESCRIPTIONS) as (keyof typeof DESCRIPTIONS)[];

/** `GET /api/merchants/{merchantId}/charges`. */
export const getCharges = keyedRoute({
  method: "GET",
  path: "/api/merchants/{merchantId}/charges",
  summary: "Fees of a merchant with their totals, newest first",
  access: { scope: "named", anyOf: ["read"], adminAnyOf: ["admin:read", "admin:write"] },
  rateCategory: "transactions",
  query: z.object({
    page: page.default(1),
    limit: limit.default(20),
    type: z.enum(TYPES).optional(),
    currency: currency.optional(),
    network: network.optional(),
    startDate: startDate.optional(),
    endDate: endDate.optional(),
  }),
  responses: {
    200: {
      description: "One page of charges, and the totals of all that match",
      schema: chargePage,
      example: CHARGE_PAGE_EXAMPLE,
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
      totals: totals.map(totalView),
      pagination: pagination(query, total),
    });
  },
});

function chargeView(row: ListedCharge) {
  const isDeposit = row.paymentId.startsWith("dep_");
  return {
    id: row.id,
    type: row.type,
    description: DESCRIPTIONS[row.type],
    amount: formatAmount(row.amount),
    currency: row.currency,
    network: row.network,
    depositId: isDeposit ? row.paymentId : null,
    withdrawalId: isDeposit ? null : row.paymentId,
    settlementId: row.settlementId,
    createdAt: new Date(row.createdAt).toISOString(),
  };
}

function totalView({ type, currency, network, count, amount }: ChargeTotal) {
  return { type, currency, network, count, amount: formatAmount(amount) };
}

/** `GET /api/merchants/{merchantId}/earnings`. */
export const getEarnings = keyedRoute({
  method: "GET",
  path: "/api/merchants/{merchantId}/earnings",
  summary: "Fee margins of a merchant, per pair",
  access: { scope: "named", anyOf: ["read"], adminAnyOf: ["admin:read", "admin:write"] },
  rateCategory: "transactions",
  query: z.object({ startDate: startDate.optional(), endDate: endDate.optional() }),
  responses: {
    200: {
      description: "Earnings per pair",
      schema: merchantEarnings,
      example: MERCHANT_EARNINGS_EXAMPLE,
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
  return {
    currency: total.currency,
    network: total.network,
    feeEvents: total.feeEvents,
    volume: formatAmount(total.volume),
    grossFeesCharged: formatAmount(total.fees),
    marginEarned: formatAmount(total.earned),
    reversed: formatAmount(total.reversed),
    net: formatAmount(subtract(total.earned, total.reversed)),
  };
}
