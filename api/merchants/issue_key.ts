/**
 * Making, replacing and ending keys of all holders. A key never grants more than the key
 * that made it: not in permissions, not in where it may be used from, not in how long.
 *
 * @module
 */

import { z } from "zod";
import {
  approveApiKey,
  insertApiKey,
  MOST_KEYS,
  type NewKey,
  revokeApiKey,
  rotateApiKey,
} from "../../ledger/api_key_changes.ts";
import { findApiKey, type KeyRecord } from "../../ledger/api_keys.ts";
import { awaitsApproval, type Duties, isSameHand } from "../../ledger/money/duties.ts";
import { type Accountable, hubAudit, recordRefusal } from "../http/admin_command.ts";
import { type Answer, created, ok } from "../http/answer.ts";
import { isWithin } from "../http/client_address.ts";
import type { ApiContext } from "../http/context.ts";
import {
  conflict,
  errorAnswer,
  forbidden,
  invalidField,
  notFound,
  refused,
  unauthorized,
} from "../http/errors.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { hashApiKey, mintApiKey } from "../http/key_ring.ts";
import {
  actorOf,
  type Caller,
  holds,
  KEY_ROLES,
  type KeyRole,
  type Permission,
  PERMISSIONS,
} from "../http/permission.ts";
import { shown } from "../http/shown.ts";

const keyFields = {
  id: f.id("key"),
  label: eg(z.string(), "shop server"),
  permissions: eg(z.array(z.enum(PERMISSIONS)), ["read", "write"]),
  role: eg(z.enum(KEY_ROLES), "MERCHANT"),
  needsApproval: eg(
    z.boolean().meta({
      description:
        "It has no payout right until another administrator than the one whom it counts as " +
        "approves it: withdrawals and settlements with it are 403",
    }),
    false,
  ),
  ipAllowlist: eg(z.array(z.string()).nullable(), null),
  createdAt: f.timestamp,
  expiresAt: eg(f.timestamp.nullable(), null),
};

export const apiKeyShown = z.object({
  ...keyFields,
  lastUsedAt: f.later.nullable().meta({ description: "To a few minutes" }),
}).meta({ id: "ApiKey" });

export const apiKeyCreated = z.object({
  ...keyFields,
  apiKey: eg(
    z.string().meta({
      description: "The key itself; shown now and never again",
      examples: ["sk_production_..."],
    }),
    "sk_production_...",
  ),
}).meta({ id: "ApiKeyCreated" });

/** A key that takes another one's place. */
export const apiKeyRotated = apiKeyCreated.extend({
  previous: z.object({ id: f.id("key"), expiresAt: eg(f.timestamp, "2026-08-14T09:30:00.000Z") }),
  nowNeedApproval: z.array(f.id("key")).meta({
    description:
      "Keys of the account that have lost their payout right until they are approved, as " +
      "the merchant has made the key that it was handed its own",
  }),
}).meta({ id: "ApiKeyRotated" });

export interface KeyRequest extends Accountable {
  /** Null: for administrators. */
  readonly merchantId: string | null;
  readonly now: number;
}

export interface WantedKey {
  readonly label: string;
  readonly permissions: readonly Permission[];
  readonly role: KeyRole;
  /** Unix milliseconds, null: never; undefined: as long as the key that makes it. */
  readonly expiresAt: number | null | undefined;
  /** Null: from anywhere; undefined: from where the key that makes it may be used. */
  readonly ipAllowlist: readonly string[] | null | undefined;
}

const HOUR_MS = 3_600_000;

/** Roles of the keys that a key of a role makes. */
const MAY_MAKE: Readonly<Record<KeyRole, readonly KeyRole[]>> = {
  ADMIN: ["ADMIN", "MERCHANT", "RESELLER"],
  MERCHANT: ["MERCHANT", "RESELLER"],
  RESELLER: ["RESELLER"],
};

/** True where one key may make, replace or end another with these rights. */
function mayGrant(
  caller: Caller,
  key: Pick<KeyRecord, "role" | "permissions" | "expiresAt" | "ipAllowlist">,
): boolean {
  const { ipAllowlist } = caller;
  return MAY_MAKE[caller.role].includes(key.role) &&
    key.permissions.every((permission) => holds(caller.permissions, permission)) &&
    (caller.expiresAt === null ||
      (key.expiresAt !== null && key.expiresAt <= caller.expiresAt)) &&
    (ipAllowlist === null ||
      (key.ipAllowlist !== null && key.ipAllowlist.every((entry) => isWithin(entry, ipAllowlist))));
}

/**
 * The administrator that a key counts as: a first key is its own. What takes its place is the same one, or
 * one person would be two wherever approvals compare them.
 */
function personOf(key: Pick<KeyRecord, "id" | "role" | "administrator">): string | null {
  return key.administrator ?? (key.role === "ADMIN" ? key.id : null);
}

/** Makes a key; shown in this answer and never again. */
export async function issueKey(
  request: KeyRequest,
  wanted: WantedKey,
  context: ApiContext,
): Promise<Answer> {
  const { caller, merchantId, now } = request;
  const { role, permissions, label } = wanted;
  const key = {
    id: context.newId("key"),
    merchantId,
    role,
    permissions,
    administrator: caller.administrator,
    label,
    ipAllowlist: wanted.ipAllowlist === undefined ? caller.ipAllowlist : wanted.ipAllowlist,
    expiresAt: wanted.expiresAt === undefined ? caller.expiresAt : wanted.expiresAt,
    createdAt: now,
  };
  if (!mayGrant(caller, key)) return forbidden;
  if (key.expiresAt !== null && key.expiresAt <= now) {
    return invalidField("expiresAt", "Expected a time to come", "too_small");
  }
  const apiKey = mintApiKey(context.environment);
  const standing = await insertApiKey(
    context.sql,
    { ...key, hash: hashApiKey(apiKey) },
    caller.keyId,
    (standing) =>
      hubAudit(request, "api-key.create", key.id, context, null, imageOf({ ...key, ...standing })),
  );
  if (standing === "maker_ended") return unauthorized;
  if (standing === "too_many") {
    return conflict(`An account has ${MOST_KEYS} keys at most; revoke one that is not needed.`);
  }
  const record = { ...issued({ ...key, ...standing }, context.duties), apiKey };
  return created(shown(apiKeyCreated, record));
}

/**
 * Puts a new key in the place of another one, which stays valid for the overlap. The new one is in the hands
 * of who asked for it, so a key that counts as another administrator is not rotated: it is ended instead, and
 * a new key counts as its maker.
 */
export async function rotateKey(
  request: KeyRequest,
  keyId: string,
  overlapHours: number,
  context: ApiContext,
): Promise<Answer> {
  const { caller, merchantId, now } = request;
  const old = await findApiKey(context.sql, merchantId, keyId);
  if (old === null) return notFound;
  if (!mayGrant(caller, old)) return forbidden;
  const person = personOf(old);
  if (person !== null && caller.administrator !== null && person !== caller.administrator) {
    await recordRefusal(request, "api-key.rotate", keyId, "another_administrator", context);
    return errorAnswer("key_of_another", {});
  }
  const id = context.newId("key");
  const apiKey = mintApiKey(context.environment);
  // a merchant's own key that an administrator replaces is known to that one from now on
  const administrator = person ?? caller.administrator;
  const fresh: NewKey = { ...old, id, administrator, createdAt: now, hash: hashApiKey(apiKey) };
  const until = now + overlapHours * HOUR_MS;
  const rotated = await rotateApiKey(
    context.sql,
    keyId,
    fresh,
    caller.keyId,
    until,
    ({ needsApproval, nowNeedApproval }) =>
      hubAudit(request, "api-key.rotate", id, context, { id: keyId }, {
        ...imageOf({ ...fresh, needsApproval }),
        overlapHours,
        ...(nowNeedApproval.length === 0 ? {} : { nowNeedApproval }),
      }),
  );
  if (rotated === "maker_ended") return unauthorized;
  if (rotated === "too_many") {
    return conflict("Too many keys of the account are being replaced; revoke one first.");
  }
  if (rotated === null) return conflict("The key has ended and cannot be rotated.");
  context.keys.forget(merchantId);
  const { needsApproval, ends, nowNeedApproval } = rotated;
  return created(shown(apiKeyRotated, {
    ...issued({ ...fresh, needsApproval }, context.duties),
    apiKey,
    previous: { id: keyId, expiresAt: ends },
    nowNeedApproval: nowNeedApproval.filter(() =>
      awaitsApproval(context.duties, { needsApproval: true })
    ),
  }));
}

/** Gives a merchant's key its payout right: the word of another administrator than its own. */
export async function approveKey(
  request: KeyRequest & { readonly merchantId: string },
  keyId: string,
  context: ApiContext,
): Promise<Answer> {
  const { caller, merchantId } = request;
  const key = await findApiKey(context.sql, merchantId, keyId);
  if (key === null) return notFound;
  const action = "api-key.approve";
  const [mine, its] = [actorOf(caller), { key: null, administrator: personOf(key) }];
  if (isSameHand(context.duties.fourEyes, its, mine)) {
    const refusal = { code: "same_administrator" } as const;
    await recordRefusal(request, action, keyId, refusal.code, context);
    return refused(refusal);
  }
  const approved = { ...key, needsApproval: false };
  const audit = hubAudit(request, action, keyId, context, imageOf(key), imageOf(approved));
  if (await approveApiKey(context.sql, merchantId, keyId, audit)) context.keys.forget(merchantId);
  return ok(keyView(approved, context.duties));
}

/** Ends a key at once. */
export async function revokeKey(
  request: KeyRequest,
  keyId: string,
  context: ApiContext,
): Promise<Answer> {
  const { caller, merchantId, now } = request;
  const key = await findApiKey(context.sql, merchantId, keyId);
  if (key === null) return notFound;
  if (keyId !== caller.keyId && !mayGrant(caller, key)) return forbidden;
  const audit = hubAudit(request, "api-key.revoke", keyId, context, imageOf(key), null);
  const outcome = await revokeApiKey(context.sql, merchantId, keyId, audit);
  if (outcome === "not_found") return notFound;
  if (outcome === "last_admin") {
    return conflict("The last key that can administrate cannot be revoked.");
  }
  outcome satisfies "revoked";
  context.keys.forget(merchantId);
  return ok({ id: keyId, revokedAt: new Date(now).toISOString() });
}

export function keyView(key: KeyRecord, duties: Pick<Duties, "fourEyes">) {
  return shown(apiKeyShown, issued(key, duties));
}

function issued<K extends Pick<KeyRecord, "needsApproval">>(
  key: K,
  duties: Pick<Duties, "fourEyes">,
) {
  return { ...key, needsApproval: awaitsApproval(duties, key) };
}

/** As the audit keeps it, whatever the rules are at the time. */
function imageOf(key: Omit<KeyRecord, "id" | "createdAt" | "lastUsedAt">) {
  return {
    label: key.label,
    permissions: key.permissions,
    role: key.role,
    needsApproval: key.needsApproval,
    ipAllowlist: key.ipAllowlist,
    expiresAt: key.expiresAt === null ? null : new Date(key.expiresAt).toISOString(),
  };
}
