/**
 * Making, replacing and ending keys of all holders. A key never grants more than the key
 * that made it: not in permissions, not in where it may be used from, not in how long.
 *
 * @module
 */

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
import { hubAudit, recordRefusal } from "../http/admin_command.ts";
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
} from "../http/errors.ts";
import { hashApiKey, mintApiKey } from "../http/key_ring.ts";
import { actorOf, type Caller, holds, type KeyRole, type Permission } from "../http/permission.ts";

/** The caller, and the account of the key. */
export interface KeyRequest {
  readonly caller: Caller;
  /** Null: for administrators. */
  readonly merchantId: string | null;
  readonly now: number;
  readonly requestId: string;
}

/** The properties of a new key. */
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

/** True where one key may make, replace or end another with these rights. */
function mayGrant(
  caller: Caller,
  key: Pick<KeyRecord, "role" | "permissions" | "expiresAt" | "ipAllowlist">,
): boolean {
  const { ipAllowlist } = caller;
  const roles: Readonly<Record<KeyRole, readonly KeyRole[]>> = {
    ADMIN: ["ADMIN", "MERCHANT", "RESELLER"],
    MERCHANT: ["MERCHANT", "RESELLER"],
    RESELLER: ["RESELLER"],
  };
  return roles[caller.role].includes(key.role) &&
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
  const key = {
    id: context.newId("key"),
    merchantId,
    role: wanted.role,
    permissions: wanted.permissions,
    administrator: caller.administrator,
    label: wanted.label,
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
  if (standing === null) {
    return conflict(`An account has ${MOST_KEYS} keys at most; revoke one that is not needed.`);
  }
  return created({ ...issued({ ...key, ...standing }, context.duties), apiKey });
}

/**
 * Puts a new key in the place of another one, which stays valid for the overlap. The new one is in the hands
 * of who asked for it, so nobody rotates what counts as another administrator: that one is ended instead, and
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
  const hash = hashApiKey(apiKey);
  const fresh: NewKey = { ...old, id, administrator, createdAt: now, hash };
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
  if (rotated === "too_many") {
    return conflict("Too many keys of the account are being replaced; revoke one first.");
  }
  if (rotated === null) return conflict("The key has ended and cannot be rotated.");
  context.keys.forget(merchantId);
  const { needsApproval, ends, nowNeedApproval } = rotated;
  return created({
    ...issued({ ...fresh, needsApproval }, context.duties),
    apiKey,
    previous: { id: keyId, expiresAt: new Date(ends).toISOString() },
    nowNeedApproval: nowNeedApproval.filter(() =>
      awaitsApproval(context.duties, { needsApproval: true })
    ),
  });
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
  switch (outcome) {
    case "not_found":
      return notFound;
    case "last_admin":
      return conflict("The last key that can administrate cannot be revoked.");
    case "revoked":
      context.keys.forget(merchantId);
      return ok({ id: keyId, revokedAt: new Date(now).toISOString() });
    default: {
      const never: never = outcome;
      return never;
    }
  }
}

/** A key as it is listed. */
export function keyView(key: KeyRecord, duties: Pick<Duties, "fourEyes">) {
  return {
    ...issued(key, duties),
    lastUsedAt: key.lastUsedAt === null ? null : new Date(key.lastUsedAt).toISOString(),
  };
}

type Shown = Omit<KeyRecord, "lastUsedAt">;

function issued(key: Shown, duties: Pick<Duties, "fourEyes">) {
  return {
    id: key.id,
    ...imageOf(key),
    needsApproval: awaitsApproval(duties, key),
    createdAt: new Date(key.createdAt).toISOString(),
  };
}

/** As the audit keeps it, whatever the rules are at the time. */
function imageOf(key: Omit<Shown, "id" | "createdAt">) {
  return {
    label: key.label,
    permissions: key.permissions,
    role: key.role,
    needsApproval: key.needsApproval,
    ipAllowlist: key.ipAllowlist,
    expiresAt: key.expiresAt === null ? null : new Date(key.expiresAt).toISOString(),
  };
}
