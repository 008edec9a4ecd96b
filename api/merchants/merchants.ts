/**
 * Merchant profiles.
 *
 * @module
 */

import { z } from "zod";
import type { ProfilePatch } from "../../actors/merchant/messages.ts";
import { readMerchant } from "../../ledger/merchants.ts";
import { ACTIVATION_FEE } from "../../ledger/money/fees.ts";
import type { MerchantRow } from "../../ledger/rows.ts";
import { checkHost } from "../../webhooks/check_host.ts";
import { EVENT_TYPES, LISTED_EVENT } from "../../webhooks/events.ts";
import { checkUrl, LONGEST_URL, type UrlRefusal } from "../../webhooks/url_guard.ts";
import { type Answer, ok } from "../http/answer.ts";
import { auditStamp } from "../http/admin_command.ts";
import type { ApiContext } from "../http/context.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { detailsOf } from "../http/read_input.ts";
import {
  forbidden,
  invalidRequest,
  notDone,
  notFound,
  unavailable,
  validationFailed,
} from "../http/errors.ts";
import { route } from "../http/route.ts";
import { shown } from "../http/shown.ts";

const STATUSES = ["ACTIVE", "SUSPENDED", "INACTIVE"] as const;

export const merchantStatus = eg(z.enum(STATUSES), "ACTIVE");

function limitsOf<S extends z.ZodType>(perMinute: S) {
  return {
    balance: perMinute,
    deposits: perMinute,
    withdrawals: perMinute,
    transactions: perMinute,
    webhooks: perMinute,
  };
}

const unset = eg(z.string().nullable(), null);

/** The profile; the secret is not part of it. */
export const merchantProfile = z.object({
  id: f.id("mer"),
  name: eg(z.string(), "Example Shop"),
  status: merchantStatus,
  depositCommissionRate: eg(f.fraction, "0.01"),
  directDepositFee: eg(f.decimal.meta({ description: "Flat fee of a wallet top-up" }), "1"),
  activationFee: eg(
    f.decimal.meta({
      description:
        "Charged once per deposit address, by its first deposit of at least 1 USD; the same for all",
    }),
    "0.5",
  ),
  webhookUrl: eg(z.string().nullable(), "https://shop.example/callbacks"),
  webhookEnabled: eg(z.boolean(), true),
  webhookEvents: eg(
    z.array(z.string()).nullable().meta({
      description: "Subscription filter: null sends every event, an empty list none",
    }),
    null,
  ),
  webhookTimeout: eg(
    z.int().min(1_000).max(30_000).meta({ description: "Milliseconds" }),
    10_000,
  ),
  webhookRetryCount: eg(z.int().min(0).max(20), 3),
  successUrl: unset,
  failureUrl: unset,
  pageOrigins: eg(
    z.array(z.string()).nullable().meta({
      description: "Origins that may show the hosted page in a frame; null or empty: none",
    }),
    null,
  ),
  logoColor: eg(
    z.string().nullable().meta({
      description: "Colour of the merchant's mark on the hosted page, as `#rrggbb`",
    }),
    "#0b6e4f",
  ),
  rateLimits: eg(
    z.object(limitsOf(z.int().min(0).nullable().optional())).meta({
      description: "Requests per minute; absent or null: the default, 0: unlimited",
    }),
    {},
  ),
  resellerId: eg(f.id("rsl").nullable(), null),
  createdAt: f.timestamp,
}).meta({ id: "MerchantProfile" });

export const getMerchant = route({
  at: "GET /api/merchants/{merchantId}",
  summary: "Profile of a merchant",
  access: { scope: "named", anyOf: ["read"], adminAnyOf: ["admin:read", "admin:write"] },
  rateCategory: "transactions",
  responses: { 200: { description: "The profile, without the secret", schema: merchantProfile } },
  errors: ["record_not_found"],
  handler: async ({ merchantId }, { sql }) => {
    const row = await readMerchant(sql, merchantId);
    return row === null ? notFound : ok(profileView(row));
  },
});

/** Kept as it was parsed: what was judged is what is called. */
const url = z.string().min(1).max(LONGEST_URL).transform((text, context) => {
  const parsed = URL.parse(text)?.href ?? text;
  if (parsed.length <= LONGEST_URL) return parsed;
  context.addIssue({ code: "custom", message: `Expected at most ${LONGEST_URL} characters` });
  return z.NEVER;
}).nullable().optional();

/** Origins that may show the hosted page in a frame. */
const MOST_ORIGINS = 16;
const LONGEST_ORIGIN = 261;

/** Events a merchant may list. */
const eventNames = z.array(
  z.string().regex(LISTED_EVENT, { message: `Expected one of ${EVENT_TYPES.join(", ")}` }),
).max(64).meta({
  description: `Only these are sent; null: all, an empty list: none. What is sent: \
${EVENT_TYPES.join(", ")}. Pending states and \`payout.*\` may be listed and are never sent.`,
});

/** Fields that a merchant sets for itself. */
export const OWN_FIELDS = {
  webhookUrl: url.meta({
    description:
      "https, at a public address; the host needs an IPv4 address, since callbacks are " +
      "sent over IPv4",
  }),
  webhookEnabled: z.boolean().optional(),
  webhookEvents: eventNames.nullable().optional(),
  webhookTimeout: z.int().min(1_000).max(30_000).optional(),
  webhookRetryCount: z.int().min(0).max(20).optional(),
  successUrl: url,
  failureUrl: url,
  pageOrigins: z.array(z.string().min(1).max(LONGEST_ORIGIN)).max(MOST_ORIGINS).nullable()
    .optional(),
  logoColor: z.string().regex(/^#[0-9a-fA-F]{6}$/, { message: "Expected a colour as #rrggbb" })
    .transform((text) => text.toLowerCase()).nullable().optional(),
};

/** Fields that only an administrator sets. */
export const ADMIN_FIELDS = {
  name: f.nameOf(200).optional(),
  status: z.enum(STATUSES).optional(),
  depositCommissionRate: f.rate.optional(),
  directDepositFee: f.boundedAmount.optional(),
  /** Null: the default, 0: unlimited. */
  rateLimits: z.strictObject(limitsOf(z.int().min(0).max(10_000_000).nullable().optional()))
    .optional(),
};

/** Fields of the profile that this endpoint never changes for a merchant. */
const NOT_THE_MERCHANTS = [...Object.keys(ADMIN_FIELDS), "resellerId", "webhookSecret"];

const ownPatch = z.looseObject(OWN_FIELDS);
const adminPatch = z.strictObject({ ...OWN_FIELDS, ...ADMIN_FIELDS });

export const updateMerchant = route({
  at: "PATCH /api/merchants/{merchantId}",
  summary: "Change a merchant's settings; status, rates, fees and limits as an administrator",
  access: { scope: "named", anyOf: ["write"], adminAnyOf: ["admin:merchants"] },
  needsActiveMerchant: true,
  rateCategory: "transactions",
  body: ownPatch,
  responses: { 200: { description: "The profile after the change", schema: merchantProfile } },
  errors: ["validation_failed", "record_not_found"],
  handler: async ({ body, ...request }, context) => {
    const { caller, merchantId, now } = request;
    let changes: Patch = body;
    if (caller.role === "ADMIN") {
      const checked = adminPatch.safeParse(body);
      if (!checked.success) return invalidRequest(detailsOf(checked.error));
      if (await readMerchant(context.sql, merchantId) === null) return notFound;
      changes = checked.data;
    } else if (NOT_THE_MERCHANTS.some((field) => Object.hasOwn(body, field))) {
      return forbidden;
    }
    // a merchant that floods its own names keeps no administrator from mending its URL
    const asker = caller.role === "ADMIN" ? `administrators for ${merchantId}` : merchantId;
    // its name server has seconds to answer, in which a key may be revoked
    const refusal = await refuseUrls(changes, asker, context) ?? await request.refusalByNow();
    if (refusal !== null) return refusal;
    const outcome = await context.merchants.ask(merchantId, {
      type: "update-profile",
      at: now,
      patch: changesOf(changes, caller.role === "ADMIN"),
      audit: auditStamp(request, "merchant.update", context),
    }, context.askTimeoutMs);
    if (outcome.kind !== "done") return notDone(outcome, { merchantId });
    context.keys.forget(merchantId);
    return ok(profileView(outcome.value));
  },
});

/** Fields of a profile that were sent. */
export type Patch = Partial<z.output<typeof adminPatch>>;

const OWN_NAMES = Object.keys(OWN_FIELDS);
const ALL_NAMES = [...OWN_NAMES, ...Object.keys(ADMIN_FIELDS)];

/** The fields that were sent and may be changed, and no others. */
function changesOf(changes: Patch, byAdmin: boolean): ProfilePatch {
  const names = byAdmin ? ALL_NAMES : OWN_NAMES;
  return Object.fromEntries(
    Object.entries(changes).filter(([name, value]) => value !== undefined && names.includes(name)),
  );
}

const REFUSED_URL: Readonly<Record<UrlRefusal, string>> = {
  malformed: "Not a URL",
  too_long: "The URL is too long",
  not_https: "The URL must begin with https://",
  has_credentials: "The URL must not contain a user name or password",
  not_public: "The host is not a public address",
  only_ipv6: "The host needs an IPv4 address",
};

/**
 * The 422 for the first URL that is not one we call or redirect to, or a 503 where its host has no
 * turn to be looked up; otherwise null.
 *
 * @param asker whom the look-up counts for
 */
export async function refuseUrls(
  body: Patch,
  asker: string,
  context: ApiContext,
): Promise<Answer | null> {
  const pageRules = { ...context.urlRules, browserOnly: true };
  for (const field of ["webhookUrl", "successUrl", "failureUrl"] as const) {
    const text = body[field];
    if (typeof text !== "string") continue;
    const check = checkUrl(text, field === "webhookUrl" ? context.urlRules : pageRules);
    if (check.kind === "refused") {
      return validationFailed(field, REFUSED_URL[check.reason], check.reason);
    }
    // A redirect is followed by the customer's browser, not by us: its host may be anywhere.
    if (field !== "webhookUrl") continue;
    const reason = await checkHost(check.url, context.urlRules, context.names, asker);
    if (reason === "busy") {
      return unavailable("Too many host names are looked up just now; nothing was done.");
    }
    if (reason !== null) return validationFailed(field, REFUSED_URL[reason], reason);
  }
  for (const text of body.pageOrigins ?? []) {
    const check = checkUrl(text, pageRules);
    if (check.kind === "refused") {
      return validationFailed("pageOrigins", REFUSED_URL[check.reason], check.reason);
    }
    // It becomes part of a response header, where the URL standard's hosts would be too much.
    if (text !== check.url.origin || !/^https?:\/\/[a-z0-9.:[\]-]+$/.test(text)) {
      return validationFailed("pageOrigins", NOT_AN_ORIGIN, "not_an_origin");
    }
  }
  return null;
}

const NOT_AN_ORIGIN = "Expected an origin, for example https://shop.example, without a path";

export function profileView(row: MerchantRow) {
  return shown(merchantProfile, {
    ...row,
    id: row.merchantId,
    activationFee: ACTIVATION_FEE,
    webhookTimeout: row.webhookTimeoutMs,
  });
}
