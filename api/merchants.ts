/**
 * Merchant profiles.
 *
 * @module
 */

import { z } from "zod";
import type { ProfilePatch } from "../actors/merchant/messages.ts";
import { formatAmount } from "../ledger/amount.ts";
import { readMerchant } from "../ledger/queries/read_merchant.ts";
import type { MerchantRow } from "../ledger/rows.ts";
import { checkHost } from "../webhooks/check_host.ts";
import { checkUrl, LONGEST_URL, type UrlRefusal } from "../webhooks/url_guard.ts";
import { type Answer, ok } from "./answer.ts";
import type { ApiContext } from "./context.ts";
import { forbidden, notDone, notFound, validationFailed } from "./errors.ts";
import { keyedRoute } from "./route.ts";

/** `GET /api/merchants/{merchantId}`. */
export const getMerchant = keyedRoute({
  method: "GET",
  path: "/api/merchants/{merchantId}",
  summary: "Profile of a merchant",
  access: { scope: "named", anyOf: ["read"], adminAnyOf: ["admin:read", "admin:write"] },
  rateCategory: "transactions",
  responses: { 200: "The profile, without the secret" },
  handler: ({ merchantId }, { sql }) => profile(sql, merchantId),
});

/** Fields that a merchant's own key may not change. */
const ADMIN_FIELDS = {
  name: z.unknown().optional(),
  status: z.unknown().optional(),
  depositCommissionRate: z.unknown().optional(),
  directDepositFee: z.unknown().optional(),
  rateLimits: z.unknown().optional(),
  resellerId: z.unknown().optional(),
};

const url = z.string().min(1).max(LONGEST_URL).nullable().optional();

/** Events a merchant may list; more than exist, but bounded. */
const eventNames = z.array(z.string().min(1).max(64)).max(64);

const patch = z.object({
  webhookUrl: url,
  webhookEnabled: z.boolean().optional(),
  webhookEvents: eventNames.nullable().optional(),
  webhookTimeout: z.int().min(1_000).max(30_000).optional(),
  webhookRetryCount: z.int().min(0).max(20).optional(),
  successUrl: url,
  failureUrl: url,
  ...ADMIN_FIELDS,
});

/** `PATCH /api/merchants/{merchantId}`. */
export const updateMerchant = keyedRoute({
  method: "PATCH",
  path: "/api/merchants/{merchantId}",
  summary: "Change webhook and redirect settings",
  access: { scope: "named", anyOf: ["write"], adminAnyOf: ["admin:write"] },
  rateCategory: "transactions",
  body: patch,
  responses: { 200: "The profile after the change", 422: "A URL is refused" },
  handler: async ({ merchantId, body, now }, context) => {
    for (const field of Object.keys(ADMIN_FIELDS)) {
      if (Object.hasOwn(body, field)) return forbidden();
    }
    const refusal = await refuseUrls(body, context);
    if (refusal !== null) return refusal;
    const outcome = await context.merchants.ask(merchantId, {
      type: "update-profile",
      at: now,
      patch: changesOf(body),
    }, context.askTimeoutMs);
    if (outcome.kind !== "done") return notDone(outcome, { merchantId });
    context.keys.forget(merchantId);
    return await profile(context.sql, merchantId);
  },
});

type Patch = z.output<typeof patch>;

/** The fields that were sent, and no others. */
function changesOf(body: Patch): ProfilePatch {
  const { webhookUrl, webhookEnabled, webhookEvents, webhookTimeout } = body;
  const { webhookRetryCount, successUrl, failureUrl } = body;
  return {
    ...(webhookUrl === undefined ? {} : { webhookUrl }),
    ...(webhookEnabled === undefined ? {} : { webhookEnabled }),
    ...(webhookEvents === undefined ? {} : { webhookEvents }),
    ...(webhookTimeout === undefined ? {} : { webhookTimeout }),
    ...(webhookRetryCount === undefined ? {} : { webhookRetryCount }),
    ...(successUrl === undefined ? {} : { successUrl }),
    ...(failureUrl === undefined ? {} : { failureUrl }),
  };
}

const REFUSED_URL: Readonly<Record<UrlRefusal, string>> = {
  malformed: "Not a URL",
  too_long: "The URL is too long",
  not_https: "The URL must begin with https://",
  has_credentials: "The URL must not contain a user name or password",
  not_public: "The host is not a public address",
};

/** The 422 for the first URL that is not one we call or redirect to, otherwise null. */
async function refuseUrls(body: Patch, context: ApiContext): Promise<Answer | null> {
  for (const field of ["webhookUrl", "successUrl", "failureUrl"] as const) {
    const text = body[field];
    if (typeof text !== "string") continue;
    const check = checkUrl(text, context.urlRules);
    if (check.kind === "refused") {
      return validationFailed(field, REFUSED_URL[check.reason], check.reason);
    }
    // A redirect is followed by the customer's browser, not by us: its host may be anywhere.
    if (field === "webhookUrl" && !await checkHost(check.url, context.urlRules, context.resolve)) {
      return validationFailed(field, REFUSED_URL.not_public, "not_public");
    }
  }
  return null;
}

async function profile(sql: ApiContext["sql"], merchantId: string): Promise<Answer> {
  const row = await readMerchant(sql, merchantId);
  return row === null ? notFound : ok(profileView(row));
}

/** The profile as it is shown; the secret is not part of it. */
export function profileView(row: MerchantRow) {
  return {
    id: row.merchantId,
    name: row.name,
    status: row.status,
    depositCommissionRate: row.depositCommissionRate,
    directDepositFee: formatAmount(row.directDepositFee),
    webhookUrl: row.webhookUrl,
    webhookEnabled: row.webhookEnabled,
    webhookEvents: row.webhookEvents,
    webhookTimeout: row.webhookTimeoutMs,
    webhookRetryCount: row.webhookRetryCount,
    successUrl: row.successUrl,
    failureUrl: row.failureUrl,
    rateLimits: row.rateLimits,
    resellerId: row.resellerId,
    createdAt: new Date(row.createdAt).toISOString(),
  };
}
