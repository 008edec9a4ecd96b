/**
 * Making, replacing and ending keys, whoever they are for. A key never grants more than the key
 * that made it: not in permissions, not in where it may be used from, not in how long.
 *
 * @module
 */

import { approveApiKey } from "../ledger/admin/approve_api_key.ts";
import { findApiKey } from "../ledger/admin/find_api_key.ts";
import { hasHadMoney } from "../ledger/admin/has_had_money.ts";
import { insertApiKey, MOST_KEYS, type NewKey } from "../ledger/admin/insert_api_key.ts";
import type { KeyRecord } from "../ledger/admin/key_record.ts";
import { revokeApiKey } from "../ledger/admin/revoke_api_key.ts";
import { rotateApiKey } from "../ledger/admin/rotate_api_key.ts";
import { isSameHand } from "../ledger/duties.ts";
import { type Answer, created, ok } from "./answer.ts";
import { hashApiKey, mintApiKey } from "./api_key.ts";
import { noteRefusal } from "./ask_as_admin.ts";
import { hubAudit } from "./audit_stamp.ts";
import { isWithin } from "./client_address.ts";
import type { ApiContext } from "./context.ts";

import { conflict, forbidden, invalidField, keyOfAnother, notFound, refused } from "./errors.ts";
import { actorOf, type Caller, holds, type KeyRole, type Permission } from "./permission.ts";

/** Who asks, for which account. */
export interface KeyRequest {
  readonly caller: Caller;
  /** Null: for administrators. */
  readonly merchantId: string | null;
  readonly now: number;
  readonly requestId: string;
}

/** What a new key is to be. */
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

/** Whether one key may make, replace or end another with these rights. */
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

/**
 * Whether payouts with a new key are to wait for another administrator: where one sees the key of an account
 * that has had money. A merchant's first keys are made before; what it makes itself is its own affair.
 */
async function isKnownToAdministrator(
  caller: Caller,
  merchantId: string | null,
  { sql }: Pick<ApiContext, "sql">,
): Promise<boolean> {
  if (caller.role !== "ADMIN") return caller.payoutsWait;
  return merchantId !== null && await hasHadMoney(sql, merchantId);
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
    needsApproval: await isKnownToAdministrator(caller, merchantId, context),
    label: wanted.label,
    ipAllowlist: wanted.ipAllowlist === undefined ? caller.ipAllowlist : wanted.ipAllowlist,
    expiresAt: wanted.expiresAt === undefined ? caller.expiresAt : wanted.expiresAt,
    createdAt: now,
  };
  if (!mayGrant(caller, key)) return forbidden();
  if (key.expiresAt !== null && key.expiresAt <= now) {
    return invalidField("expiresAt", "Expected a time to come", "too_small");
  }
  const apiKey = mintApiKey(context.environment);
  const audit = hubAudit(request, "api-key.create", key.id, context, null, imageOf(key));
  if (!await insertApiKey(context.sql, { ...key, hash: hashApiKey(apiKey) }, audit)) {
    return conflict(`An account has ${MOST_KEYS} keys at most; revoke one that is not needed.`);
  }
  return created({ ...issued(key), apiKey });
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
  if (!mayGrant(caller, old)) return forbidden();
  const person = personOf(old);
  if (person !== null && caller.administrator !== null && person !== caller.administrator) {
    await noteRefusal(request, "api-key.rotate", keyId, "another_administrator", context);
    return keyOfAnother;
  }
  const id = context.newId("key");
  const apiKey = mintApiKey(context.environment);
  // a merchant's own key that an administrator replaces is known to that one from now on
  const administrator = person ?? caller.administrator;
  const needsApproval = await isKnownToAdministrator(caller, merchantId, context);
  const hash = hashApiKey(apiKey);
  const fresh: NewKey = { ...old, id, administrator, needsApproval, createdAt: now, hash };
  const until = now + overlapHours * HOUR_MS;
  const audit = hubAudit(request, "api-key.rotate", id, context, { id: keyId }, {
    ...imageOf(fresh),
    overlapHours,
  });
  const ends = await rotateApiKey(context.sql, keyId, fresh, until, audit);
  if (ends === "too_many") {
    return conflict("Too many keys of the account are being replaced; revoke one first.");
  }
  if (ends === null) return conflict("The key has ended and cannot be rotated.");
  context.keys.forget(merchantId);
  return created({
    ...issued(fresh),
    apiKey,
    previous: { id: keyId, expiresAt: new Date(ends).toISOString() },
  });
}

/** Lets a merchant's key pay out without approval: the word of another administrator than its own. */
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
    await noteRefusal(request, action, keyId, refusal.code, context);
    return refused(refusal);
  }
  const approved = { ...key, needsApproval: false };
  const audit = hubAudit(request, action, keyId, context, imageOf(key), imageOf(approved));
  if (await approveApiKey(context.sql, merchantId, keyId, audit)) context.keys.forget(merchantId);
  return ok(keyView(approved));
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
  if (keyId !== caller.keyId && !mayGrant(caller, key)) return forbidden();
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
export function keyView(key: KeyRecord) {
  return {
    ...issued(key),
    lastUsedAt: key.lastUsedAt === null ? null : new Date(key.lastUsedAt).toISOString(),
  };
}

function issued(key: Omit<KeyRecord, "lastUsedAt">) {
  return {
    id: key.id,
    label: key.label,
    permissions: key.permissions,
    role: key.role,
    needsApproval: key.needsApproval,
    ipAllowlist: key.ipAllowlist,
    createdAt: new Date(key.createdAt).toISOString(),
    expiresAt: key.expiresAt === null ? null : new Date(key.expiresAt).toISOString(),
  };
}

function imageOf(key: Omit<KeyRecord, "lastUsedAt">) {
  const { id: _id, createdAt: _createdAt, ...image } = issued(key);
  return image;
}
