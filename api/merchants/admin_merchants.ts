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
import { created } from "../http/answer.ts";
import { type Accountable, auditStamp } from "../http/admin_command.ts";
import type { ApiContext } from "../http/context.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { listed, pageOf, pages } from "../http/list.ts";
import { adminRoute, READERS } from "../http/route.ts";
import {
  ADMIN_FIELDS,
  merchantProfile,
  merchantStatus,
  OWN_FIELDS,
  type Patch,
  profileView,
  refuseUrls,
} from "./merchants.ts";

const merchantCreated = merchantProfile.extend({
  webhookSecret: eg(z.string().meta({ description: "Shown now and never again" }), "whsec_..."),
}).meta({ id: "MerchantCreated" });

const ONE = parseAmount("1") as Amount;

const newMerchant = z.strictObject({
  ...OWN_FIELDS,
  ...ADMIN_FIELDS,
  name: f.nameOf(200),
});

export const createMerchant = adminRoute({
  at: "POST /api/admin/merchants",
  summary: "Create a merchant",
  anyOf: ["admin:merchants"],
  body: newMerchant,
  responses: {
    201: {
      description: "The profile, and the webhook secret this once",
      schema: merchantCreated,
    },
  },
  errors: ["validation_failed"],
  handler: async ({ body, ...request }, context) => {
    // counted for the new merchant: an administrator who makes many merchants does not wait for each of their names
    const refusal = await refuseUrls(body, context.newId("mer"), context) ??
      await request.refusalByNow();
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

export const getMerchants = adminRoute({
  at: "GET /api/admin/merchants",
  summary: "List merchants, newest first",
  anyOf: READERS,
  query: z.object({
    ...pages(),
    status: merchantStatus.optional(),
    name: z.string().min(1).max(200).optional(),
    resellerId: z.string().min(1).max(100).optional(),
  }),
  responses: {
    200: { description: "One page of profiles", schema: pageOf("merchants", merchantProfile) },
  },
  handler: async ({ query }, { sql }) => {
    const { status, name, resellerId } = query;
    const found = await listMerchants(sql, { status, name, resellerId }, query);
    return listed("merchants", found, query, profileView);
  },
});
