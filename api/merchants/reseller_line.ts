/**
 * The line of a reseller: which merchants it brought, and who earns which part of their fees.
 *
 * @module
 */

import { z } from "zod";
import { sumMargins } from "../../ledger/margins.ts";
import { listMerchants, readMerchant } from "../../ledger/merchants.ts";
import { findResellerById } from "../../ledger/resellers.ts";
import type { MerchantRow } from "../../ledger/rows.ts";
import { askAsAdmin } from "../http/admin_command.ts";
import { ok } from "../http/answer.ts";
import { refuseReversed } from "../http/checks.ts";
import { notFound, validationFailed } from "../http/errors.ts";
import { endDate, limit, page, rate, startDate } from "../http/fields.ts";
import { pagination } from "../http/formats.ts";
import { staffRoute } from "../http/route.ts";
import {
  earningsView,
  RESELLER_EARNINGS_EXAMPLE,
  resellerEarnings,
} from "../statements/charges.ts";
import {
  LINE_MERCHANT_PAGE_EXAMPLE,
  lineMerchantPage,
  MERCHANT_LINE_EXAMPLE,
  merchantLine,
} from "./reseller_schema.ts";
import { isRefused, resellerFor } from "./resellers.ts";

const READ = {
  scope: "reseller",
  anyOf: ["read"],
  adminAnyOf: ["admin:read", "admin:write"],
} as const;

/** `GET /api/resellers/{resellerId}/merchants`. */
export const getResellerMerchants = staffRoute({
  method: "GET",
  path: "/api/resellers/{resellerId}/merchants",
  summary: "List the merchants of a reseller's line, newest first",
  access: READ,
  rateCategory: "transactions",
  query: z.object({ page: page.default(1), limit: limit.default(20) }),
  responses: {
    200: {
      description: "One page of merchants",
      schema: lineMerchantPage,
      example: LINE_MERCHANT_PAGE_EXAMPLE,
    },
  },
  errors: ["record_not_found"],
  handler: async ({ caller, params, query }, context) => {
    const found = await resellerFor(caller, params.resellerId ?? "", context);
    if (isRefused(found)) return found;
    const merchants = await listMerchants(context.sql, { resellerId: found.id }, query);
    return ok({
      merchants: merchants.rows.map((row) => ({
        id: row.merchantId,
        name: row.name,
        status: row.status,
        marginRate: row.marginRate,
        beneficiary: beneficiaryOf(row),
        createdAt: new Date(row.createdAt).toISOString(),
      })),
      pagination: pagination(query, merchants.total),
    });
  },
});

/** `GET /api/resellers/{resellerId}/earnings`. */
export const getResellerEarnings = staffRoute({
  method: "GET",
  path: "/api/resellers/{resellerId}/earnings",
  summary: "What a reseller earned from its line's fees, per pair",
  access: READ,
  rateCategory: "transactions",
  query: z.object({ startDate: startDate.optional(), endDate: endDate.optional() }),
  responses: {
    200: {
      description: "Earnings per pair",
      schema: resellerEarnings,
      example: RESELLER_EARNINGS_EXAMPLE,
    },
  },
  errors: ["record_not_found", "validation_failed"],
  handler: async ({ caller, params, query }, context) => {
    const found = await resellerFor(caller, params.resellerId ?? "", context);
    if (isRefused(found)) return found;
    const reversed = refuseReversed(query);
    if (reversed !== null) return reversed;
    const range = { from: query.startDate, until: query.endDate };
    const totals = await sumMargins(context.sql, found.merchantId, range, "others");
    return ok({
      resellerId: found.id,
      merchantId: found.merchantId,
      earnings: totals.map(earningsView),
    });
  },
});

/** `GET /api/merchants/{merchantId}/reseller`. */
export const getMerchantReseller = staffRoute({
  method: "GET",
  path: "/api/merchants/{merchantId}/reseller",
  summary: "The line a merchant is attached to",
  access: { scope: "admin", anyOf: ["admin:read", "admin:write"] },
  rateCategory: "none",
  responses: {
    200: {
      description: "The line; all null where there is none",
      schema: merchantLine,
      example: MERCHANT_LINE_EXAMPLE,
    },
  },
  errors: ["record_not_found"],
  handler: async ({ params }, { sql }) => {
    const merchant = await readMerchant(sql, params.merchantId ?? "");
    return merchant === null ? notFound : ok(lineView(merchant));
  },
});

/** `PUT /api/merchants/{merchantId}/reseller`. */
export const putMerchantReseller = staffRoute({
  method: "PUT",
  path: "/api/merchants/{merchantId}/reseller",
  summary: "Attach a merchant to a reseller's line, or detach it",
  access: { scope: "admin", anyOf: ["admin:merchants"] },
  rateCategory: "none",
  body: z.strictObject({
    resellerId: z.string().min(1).max(100).nullable(),
    marginRate: rate.optional(),
    beneficiary: z.enum(["merchant", "reseller"]).optional(),
  }),
  responses: {
    200: {
      description: "The line after the change",
      schema: merchantLine,
      example: MERCHANT_LINE_EXAMPLE,
    },
  },
  errors: ["record_not_found", "validation_failed"],
  handler: async ({ body, ...request }, context) => {
    const merchantId = request.params.merchantId ?? "";
    const { resellerId, marginRate = "0", beneficiary = "merchant" } = body;
    const { sql } = context;
    if (await readMerchant(sql, merchantId) === null) return notFound;
    const reseller = resellerId === null ? null : await findResellerById(sql, resellerId);
    if (resellerId !== null && reseller === null) {
      return validationFailed("resellerId", "There is no such reseller", "unknown_reseller");
    }
    if (reseller?.merchantId === merchantId) {
      const message = "A reseller's own account cannot be part of its line";
      return validationFailed("resellerId", message, "own_line");
    }
    const earner = beneficiary === "merchant" ? merchantId : reseller?.merchantId ?? null;
    const outcome = await askAsAdmin(request, merchantId, "merchant.reseller", merchantId, {
      type: "update-profile",
      at: request.now,
      patch: {
        resellerId,
        marginRate: reseller === null ? "0" : marginRate,
        marginBeneficiary: reseller === null ? null : earner,
      },
    }, context);
    return outcome.kind === "answer" ? outcome.answer : ok(lineView(outcome.value));
  },
});

function beneficiaryOf(merchant: MerchantRow): "merchant" | "reseller" | null {
  if (merchant.marginBeneficiary === null) return null;
  return merchant.marginBeneficiary === merchant.merchantId ? "merchant" : "reseller";
}

function lineView(merchant: MerchantRow) {
  const isAttached = merchant.resellerId !== null;
  return {
    merchantId: merchant.merchantId,
    resellerId: merchant.resellerId,
    marginRate: isAttached ? merchant.marginRate : null,
    beneficiary: beneficiaryOf(merchant),
  };
}
