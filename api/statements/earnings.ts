/**
 * What a merchant account earned from fee margins.
 *
 * @module
 */

import { z } from "zod";
import { formatAmount, subtract } from "../../ledger/money/amount.ts";
import { type MarginTotal, sumMargins } from "../../ledger/margins.ts";
import { ok } from "../http/answer.ts";
import { refuseReversed } from "../http/date_range.ts";
import { endDate, startDate } from "../http/fields.ts";
import { refuseUnknown } from "../http/refuse_unknown.ts";
import { keyedRoute } from "../http/route.ts";
import { MERCHANT_EARNINGS_EXAMPLE, merchantEarnings } from "./charges_schema.ts";

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
    const refusal = refuseReversed(query) ?? await refuseUnknown(sql, caller, merchantId);
    if (refusal !== null) return refusal;
    const totals = await sumMargins(sql, merchantId, query.startDate, query.endDate);
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
