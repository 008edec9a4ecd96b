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
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { dates, listed, pageOf, pages } from "../http/list.ts";
import { adminRoute, READERS, route } from "../http/route.ts";
import { shown } from "../http/shown.ts";
import { earnings, earningsView } from "../statements/charges.ts";
import { merchantStatus } from "./merchants.ts";
import { isRefused, READ, resellerFor } from "./resellers.ts";

const beneficiary = eg(
  z.enum(["merchant", "reseller"]).nullable().meta({
    description: "Whose account the margin is credited to",
  }),
  "reseller",
);

const lineMerchant = z.object({
  id: f.id("mer"),
  name: eg(z.string(), "Example Shop"),
  status: merchantStatus,
  marginRate: eg(f.fraction, "0.2"),
  beneficiary,
  createdAt: f.timestamp,
}).meta({ id: "LineMerchant" });

const merchantLine = z.object({
  merchantId: f.id("mer"),
  resellerId: f.id("rsl").nullable(),
  marginRate: eg(f.fraction.nullable(), "0.2"),
  beneficiary,
}).meta({ id: "MerchantLine" });

export const getResellerMerchants = route({
  at: "GET /api/resellers/{resellerId}/merchants",
  summary: "List the merchants of a reseller's line, newest first",
  access: READ,
  rateCategory: "transactions",
  query: z.object(pages()),
  responses: {
    200: { description: "One page of merchants", schema: pageOf("merchants", lineMerchant) },
  },
  errors: ["record_not_found"],
  handler: async ({ caller, params, query }, context) => {
    const found = await resellerFor(caller, params.resellerId, context);
    if (isRefused(found)) return found;
    const merchants = await listMerchants(context.sql, { resellerId: found.id }, query);
    const view = (row: MerchantRow) =>
      shown(lineMerchant, { ...row, id: row.merchantId, beneficiary: beneficiaryOf(row) });
    return listed("merchants", merchants, query, view);
  },
});

export const getResellerEarnings = route({
  at: "GET /api/resellers/{resellerId}/earnings",
  summary: "Earnings of a reseller from its line's fees, per pair",
  access: READ,
  rateCategory: "transactions",
  query: z.object(dates),
  responses: {
    200: {
      description: "Earnings per pair",
      schema: z.object({ resellerId: f.id("rsl"), merchantId: f.id("mer"), earnings }),
    },
  },
  errors: ["record_not_found", "validation_failed"],
  handler: async ({ caller, params, query }, context) => {
    const found = await resellerFor(caller, params.resellerId, context);
    if (isRefused(found)) return found;
    const reversed = refuseReversed(query);
    if (reversed !== null) return reversed;
    const range = { from: query.startDate, until: query.endDate };
    const totals = await sumMargins(context.sql, found.merchantId, range, "others");
    const { id: resellerId, merchantId } = found;
    return ok({ resellerId, merchantId, earnings: totals.map(earningsView) });
  },
});

export const getMerchantReseller = adminRoute({
  at: "GET /api/merchants/{merchantId}/reseller",
  summary: "The line a merchant is attached to",
  anyOf: READERS,
  responses: {
    200: { description: "The line; all null where there is none", schema: merchantLine },
  },
  errors: ["record_not_found"],
  handler: async ({ params }, { sql }) => {
    const merchant = await readMerchant(sql, params.merchantId);
    return merchant === null ? notFound : ok(lineView(merchant));
  },
});

export const putMerchantReseller = adminRoute({
  at: "PUT /api/merchants/{merchantId}/reseller",
  summary: "Attach a merchant to a reseller's line, or detach it",
  anyOf: ["admin:merchants"],
  body: z.strictObject({
    resellerId: z.string().min(1).max(100).nullable(),
    marginRate: f.rate.optional(),
    beneficiary: z.enum(["merchant", "reseller"]).optional(),
  }),
  responses: { 200: { description: "The line after the change", schema: merchantLine } },
  errors: ["record_not_found", "validation_failed"],
  handler: async ({ body, ...request }, context) => {
    const merchantId = request.params.merchantId;
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
  return shown(merchantLine, {
    ...merchant,
    marginRate: merchant.resellerId === null ? null : merchant.marginRate,
    beneficiary: beneficiaryOf(merchant),
  });
}
