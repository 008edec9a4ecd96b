/**
 * Merchants, as administrators make and find them.
 *
 * @module
 */

import { z } from "zod";
import { insertMerchant, listMerchants } from "../../ledger/merchants.ts";
import { type Amount, formatAmount, parseAmount } from "../../ledger/money/amount.ts";
import type { MerchantRow } from "../../ledger/rows.ts";
import { newWebhookSecret } from "../../webhooks/signature.ts";
import { created, ok } from "../http/answer.ts";
import { type Accountable, auditStamp } from "../http/admin_command.ts";
import type { ApiContext } from "../http/context.ts";
import { limit, nameOf, page } from "../http/fields.ts";
import { pagination } from "../http/formats.ts";
import { staffRoute } from "../http/route.ts";
import {
  MERCHANT_CREATED_EXAMPLE,
  MERCHANT_PAGE_EXAMPLE,
  merchantCreated,
  merchantPage,
} from "./merchant_schema.ts";
import { ADMIN_FIELDS, OWN_FIELDS, type Patch, profileView, refuseUrls } from "./merchants.ts";

const ONE = parseAmount("1") as Amount;

const newMerchant = z.strictObject({
  ...OWN_FIELDS,
  ...ADMIN_FIELDS,
  name: nameOf(200),
});

/** `POST /api/admin/merchants`. */
export const createMerchant = staffRoute({
  method: "POST",
  path: "/api/admin/merchants",
  summary: "Create a merchant",
  access: { scope: "admin", anyOf: ["admin:merchants"] },
  rateCategory: "none",
  body: newMerchant,
  responses: {
    201: {
      description: "The profile, and the webhook secret this once",
      schema: merchantCreated,
      example: MERCHANT_CREATED_EXAMPLE,
    },
  },
  errors: ["validation_failed"],
  handler: async ({ body, ...request }, context) => {
    // for nobody yet: an administrator who makes many merchants does not wait for each of their names
    const refusal = await refuseUrls(body, context.newId("mer"), context);
    if (refusal !== null) return refusal;
    const webhookSecret = newWebhookSecret();
    const merchant = await makeMerchant(request, body, webhookSecret, request.now, context);
    return created({ ...profileView(merchant), webhookSecret });
  },
});

/** Keeps a new merchant; what is not named gets its default. */
export async function makeMerchant(
  request: Accountable,
  fields: Patch & { readonly name: string },
  webhookSecret: string,
  now: number,
  context: ApiContext,
): Promise<MerchantRow> {
  const merchantId = context.newId("mer");
  const merchant: MerchantRow = {
    merchantId,
    slot: 0,
    status: fields.status ?? "ACTIVE",
    name: fields.name,
    depositCommissionRate: fields.depositCommissionRate ?? "0",
    directDepositFee: fields.directDepositFee ?? ONE,
    webhookUrl: fields.webhookUrl ?? null,
    webhookSecret: await context.callbackSecrets.seal(webhookSecret, merchantId),
    webhookSecretPrevious: null,
    webhookPreviousUntil: null,
    webhookEnabled: fields.webhookEnabled ?? false,
    webhookEvents: fields.webhookEvents ?? null,
    webhookTimeoutMs: fields.webhookTimeout ?? 10_000,
    webhookRetryCount: fields.webhookRetryCount ?? 3,
    successUrl: fields.successUrl ?? null,
    failureUrl: fields.failureUrl ?? null,
    pageOrigins: fields.pageOrigins ?? null,
    logoColor: fields.logoColor ?? null,
    rateLimits: Object.fromEntries(
      Object.entries(fields.rateLimits ?? {}).map(([name, most]) => [name, most ?? null]),
    ),
    resellerId: null,
    marginRate: "0",
    marginBeneficiary: null,
    createdAt: now,
  };
  const { auditId, actor, action, requestId } = auditStamp(request, "merchant.create", context);
  return await insertMerchant(context.sql, merchant, {
    id: auditId,
    merchantId: merchant.merchantId,
    actor,
    action,
    subject: merchant.merchantId,
    before: null,
    after: {
      name: merchant.name,
      status: merchant.status,
      depositCommissionRate: merchant.depositCommissionRate,
      directDepositFee: formatAmount(merchant.directDepositFee),
      rateLimits: merchant.rateLimits,
    },
    requestId,
    createdAt: now,
  });
}

/** `GET /api/admin/merchants`. */
export const getMerchants = staffRoute({
  method: "GET",
  path: "/api/admin/merchants",
  summary: "List merchants, newest first",
  access: { scope: "admin", anyOf: ["admin:read", "admin:write"] },
  rateCategory: "none",
  query: z.object({
    page: page.default(1),
    limit: limit.default(20),
    status: z.enum(["ACTIVE", "SUSPENDED", "INACTIVE"]).optional(),
    name: z.string().min(1).max(200).optional(),
    resellerId: z.string().min(1).max(100).optional(),
  }),
  responses: {
    200: {
      description: "One page of profiles",
      schema: merchantPage,
      example: MERCHANT_PAGE_EXAMPLE,
    },
  },
  handler: async ({ query }, { sql }) => {
    const { status, name, resellerId } = query;
    const found = await listMerchants(sql, { status, name, resellerId }, query);
    return ok({
      merchants: found.rows.map(profileView),
      pagination: pagination(query, found.total),
    });
  },
});
