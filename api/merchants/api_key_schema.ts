/**
 * API keys as they are shown.
 *
 * @module
 */

import { z } from "zod";
import { KEY_ROLES, PERMISSIONS } from "../http/permission.ts";
import { EXAMPLE, exampleId, id, timestamp } from "../http/formats.ts";

const secret = z.string().meta({
  description: "The key itself; shown now and never again",
  examples: ["sk_production_..."],
});

const shown = {
  id: id("key"),
  label: z.string(),
  permissions: z.array(z.enum(PERMISSIONS)),
  role: z.enum(KEY_ROLES),
  needsApproval: z.boolean().meta({
    description:
      "It has no payout right until another administrator than the one whom it counts as approves it: " +
      "withdrawals and settlements with it are 403",
  }),
  ipAllowlist: z.array(z.string()).nullable(),
  createdAt: timestamp,
  expiresAt: timestamp.nullable(),
};

/** A key as it is listed. */
export const apiKeyShown = z.object({
  ...shown,
  lastUsedAt: timestamp.nullable().meta({ description: "To a few minutes" }),
}).meta({ id: "ApiKey" });

/** Answer of a list of keys. */
export const apiKeyList = z.object({ apiKeys: z.array(apiKeyShown) });

/** Answer to a new key. */
export const apiKeyCreated = z.object({ ...shown, apiKey: secret }).meta({ id: "ApiKeyCreated" });

/** Answer to a key that takes another one's place. */
export const apiKeyRotated = z.object({
  ...shown,
  apiKey: secret,
  previous: z.object({ id: id("key"), expiresAt: timestamp }),
  nowNeedApproval: z.array(id("key")).meta({
    description:
      "Keys of the account that have lost their payout right until they are approved, as " +
      "the merchant has made the key that it was handed its own",
  }),
}).meta({ id: "ApiKeyRotated" });

/** Answer to a key that was ended. */
export const apiKeyRevoked = z.object({ id: id("key"), revokedAt: timestamp });

const KEY = {
  id: exampleId("key"),
  label: "shop server",
  permissions: ["read", "write"],
  role: "MERCHANT",
  needsApproval: false,
  ipAllowlist: null,
  createdAt: EXAMPLE.time,
  expiresAt: null,
};

export const API_KEY_LIST_EXAMPLE = { apiKeys: [{ ...KEY, lastUsedAt: EXAMPLE.later }] };

export const API_KEY_EXAMPLE = { ...KEY, lastUsedAt: EXAMPLE.later };

export const API_KEY_CREATED_EXAMPLE = { ...KEY, apiKey: "sk_production_..." };

export const API_KEY_ROTATED_EXAMPLE = {
  ...KEY,
  apiKey: "sk_production_...",
  previous: { id: exampleId("key"), expiresAt: "2026-08-14T09:30:00.000Z" },
  nowNeedApproval: [exampleId("key")],
};

export const API_KEY_REVOKED_EXAMPLE = { id: exampleId("key"), revokedAt: EXAMPLE.time };
