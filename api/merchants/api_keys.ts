/**
 * The keys of a merchant, and those of administrators.
 *
 * @module
 */

import { z } from "zod";
import { listApiKeys } from "../../ledger/api_keys.ts";
import { readMerchant } from "../../ledger/merchants.ts";
import { ok } from "../http/answer.ts";
import { isAddressOrRange } from "../http/client_address.ts";
import { notFound } from "../http/errors.ts";
import {
  apiKeyCreated,
  apiKeyRotated,
  apiKeyShown,
  approveKey,
  issueKey,
  keyView,
  revokeKey,
  rotateKey,
} from "./issue_key.ts";
import * as f from "../http/fields.ts";
import { PERMISSIONS } from "../http/permission.ts";
import { adminRoute, READERS, route } from "../http/route.ts";
import { refuseUnknownFields } from "../http/checks.ts";

const MERCHANT_KEYS = "/api/merchants/{merchantId}/api-keys";
const ADMIN_KEYS = "/api/admin/api-keys";
const NAMED = { scope: "named", anyOf: ["write"], adminAnyOf: ["admin:keys"] } as const;
const ADMIN = ["admin:keys"] as const;

const apiKeyRevoked = z.object({ id: f.id("key"), revokedAt: f.timestamp });

const LIST = {
  200: {
    description: "The keys that are not revoked, without the keys themselves",
    schema: z.object({ apiKeys: z.array(apiKeyShown) }),
  },
};

const ipAllowlist = z.array(
  z.string().max(64).refine(isAddressOrRange, {
    message: "Expected an address or a range such as 203.0.113.0/24",
  }),
).min(1).max(100).nullable().optional();

const expiresAt = z.iso.datetime({ offset: true, message: "Expected an ISO 8601 date-time" })
  .transform((text) => Date.parse(text))
  .refine(f.isStorableTime, { message: "Expected a year from 1970 to 9998" })
  .nullable().optional();

const label = f.nameOf(100);

function permissionsOf<const P extends readonly [string, ...string[]]>(allowed: P) {
  return z.array(z.enum(allowed)).min(1).max(allowed.length)
    .refine((list) => new Set(list).size === list.length, { message: "A permission occurs twice" });
}

const merchantKey = {
  label,
  permissions: permissionsOf(["read", "write", "payout", "deposit"]),
  role: z.enum(["MERCHANT", "RESELLER"]).optional(),
  expiresAt,
  ipAllowlist,
};

const adminKey = z.strictObject({
  label,
  permissions: permissionsOf(PERMISSIONS),
  expiresAt,
  ipAllowlist,
});

/** Hours for which a replaced key stays valid. */
const overlap = { overlapHours: z.int().min(0).max(168).default(24) };

export const getApiKeys = route({
  at: `GET ${MERCHANT_KEYS}`,
  summary: "List the keys of a merchant",
  access: { ...NAMED, adminAnyOf: ["admin:read", "admin:write"] },
  rateCategory: "transactions",
  responses: LIST,
  errors: ["record_not_found"],
  handler: async ({ merchantId, caller }, { sql, duties }) => {
    if (caller.role === "ADMIN" && await readMerchant(sql, merchantId) === null) return notFound;
    return ok({ apiKeys: (await listApiKeys(sql, merchantId)).map((key) => keyView(key, duties)) });
  },
});

export const createApiKey = route({
  at: `POST ${MERCHANT_KEYS}`,
  summary: "Create a key; it is shown once",
  access: NAMED,
  needsActiveMerchant: true,
  rateCategory: "transactions",
  body: z.looseObject(merchantKey),
  responses: { 201: { description: "The key", schema: apiKeyCreated } },
  errors: ["record_not_found", "conflict"],
  handler: async ({ body, ...request }, context) => {
    const { caller, merchantId } = request;
    const unknown = refuseUnknownFields(caller, body, merchantKey);
    if (unknown !== null) return unknown;
    if (caller.role === "ADMIN" && await readMerchant(context.sql, merchantId) === null) {
      return notFound;
    }
    const role = body.role ?? (caller.role === "RESELLER" ? "RESELLER" : "MERCHANT");
    const { label, permissions, expiresAt, ipAllowlist } = body;
    return await issueKey(
      request,
      { label, permissions, role, expiresAt, ipAllowlist },
      context,
    );
  },
});

export const rotateApiKey = route({
  at: `POST ${MERCHANT_KEYS}/{keyId}/rotate`,
  summary: "Replace a key; the old one stays valid for a while",
  description:
    "The new key counts as the administrator that the old one counts as. One of another " +
    "administrator is not replaced but ended. The first time that a merchant rotates the key it was " +
    "handed, with that key itself, the new one is its own, and all other keys of the account that " +
    "count as that administrator, the old one included, have no payout right from then on until " +
    "another administrator approves them: `nowNeedApproval` names them.",
  access: NAMED,
  needsActiveMerchant: true,
  rateCategory: "transactions",
  body: z.looseObject(overlap).prefault({}),
  responses: { 201: { description: "The new key", schema: apiKeyRotated } },
  errors: ["record_not_found", "conflict", "key_of_another"],
  handler: ({ body, ...request }, context) =>
    refuseUnknownFields(request.caller, body, overlap) ??
      rotateKey(request, request.params.keyId, body.overlapHours, context),
});

export const approveApiKey = adminRoute({
  at: `POST ${MERCHANT_KEYS}/{keyId}/approve`,
  summary: "Give a key that needs approval its payout right; again changes nothing",
  description: "The word of another administrator than the one whom the key counts as.",
  anyOf: ADMIN,
  body: z.strictObject({}).prefault({}),
  responses: { 200: { description: "The key", schema: apiKeyShown } },
  errors: ["record_not_found", "same_administrator"],
  handler: (request, context) => {
    const { merchantId = "", keyId = "" } = request.params;
    return approveKey({ ...request, merchantId }, keyId, context);
  },
});

export const revokeApiKey = route({
  at: `DELETE ${MERCHANT_KEYS}/{keyId}`,
  summary: "Revoke a key",
  access: NAMED,
  rateCategory: "transactions",
  responses: { 200: { description: "The key is revoked", schema: apiKeyRevoked } },
  errors: ["record_not_found"],
  handler: (request, context) => revokeKey(request, request.params.keyId, context),
});

export const getAdminKeys = adminRoute({
  at: `GET ${ADMIN_KEYS}`,
  summary: "List the keys of administrators",
  anyOf: READERS,
  responses: LIST,
  handler: async (_request, { sql, duties }) =>
    ok({ apiKeys: (await listApiKeys(sql, null)).map((key) => keyView(key, duties)) }),
});

export const createAdminKey = adminRoute({
  at: `POST ${ADMIN_KEYS}`,
  summary: "Create a key for an administrator; it is shown once",
  anyOf: ADMIN,
  body: adminKey,
  responses: { 201: { description: "The key", schema: apiKeyCreated } },
  handler: ({ body, ...request }, context) => {
    const { label, permissions, expiresAt, ipAllowlist } = body;
    return issueKey(
      request,
      { label, permissions, role: "ADMIN", expiresAt, ipAllowlist },
      context,
    );
  },
});

export const rotateAdminKey = adminRoute({
  at: `POST ${ADMIN_KEYS}/{keyId}/rotate`,
  summary: "Replace an administrator's key; the old one stays valid for a while",
  anyOf: ADMIN,
  body: z.strictObject(overlap).prefault({}),
  responses: { 201: { description: "The new key", schema: apiKeyRotated } },
  errors: ["record_not_found", "conflict", "key_of_another"],
  handler: ({ body, ...request }, context) =>
    rotateKey(
      request,
      request.params.keyId,
      body.overlapHours,
      context,
    ),
});

export const revokeAdminKey = adminRoute({
  at: `DELETE ${ADMIN_KEYS}/{keyId}`,
  summary: "Revoke an administrator's key",
  anyOf: ADMIN,
  responses: { 200: { description: "The key is revoked", schema: apiKeyRevoked } },
  errors: ["record_not_found", "conflict"],
  handler: (request, context) => revokeKey(request, request.params.keyId, context),
});
