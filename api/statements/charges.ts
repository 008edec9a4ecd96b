/**
 * The fees a merchant was charged.
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
import { formatAmount } from "../../ledger/money/amount.ts";
import type { ChargeRow } from "../../ledger/rows.ts";
import { ok } from "../http/answer.ts";
import { refuseReversed } from "../http/date_range.ts";
import { currency, endDate, limit, network, page, startDate } from "../http/fields.ts";
import { pagination } from "../http/paging.ts";
import { refuseUnknown } from "../http/refuse_unknown.ts";
import { keyedRoute } from "../http/route.ts";
import { CHARGE_PAGE_EXAMPLE, chargePage } from "./charges_schema.ts";

/** What a charge is called. */
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
    const refusal = refuseReversed(query) ?? await refuseUnknown(sql, caller, merchantId);
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
