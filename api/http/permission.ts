/**
 * Permissions of keys.
 *
 * @module
 */

import type { Actor } from "../../ledger/money/duties.ts";

/** Permissions of administrators, by subject. */
export const ADMIN_SUBJECTS = [
  "admin:payments",
  "admin:merchants",
  "admin:keys",
  "admin:settings",
  "admin:treasury",
  "admin:ingest",
] as const;

export const PERMISSIONS = [
  "read",
  "write",
  "payout",
  "deposit",
  "admin:read",
  "admin:write",
  ...ADMIN_SUBJECTS,
] as const;

export type Permission = (typeof PERMISSIONS)[number];

/** Holders of a key. */
export const KEY_ROLES = ["MERCHANT", "RESELLER", "ADMIN"] as const;

export type KeyRole = (typeof KEY_ROLES)[number];

export interface Caller {
  readonly keyId: string;
  readonly role: KeyRole;
  /** The merchant account the key belongs to; null for an administrator. */
  readonly merchantId: string | null;
  /** True where that account may create payments; true for an administrator. */
  readonly isActive: boolean;
  readonly permissions: readonly string[];
  /** The administrator who stands behind the key: whose key made it; null: none. */
  readonly administrator: string | null;
  /** True where the key has no payout right before another administrator has approved it; see `awaitsApproval`. */
  readonly needsApproval: boolean;
  /** Addresses and ranges the key may be used from; null: from anywhere. */
  readonly ipAllowlist: readonly string[] | null;
  /** Unix milliseconds, null: never. */
  readonly expiresAt: number | null;
  /** Requests per minute that differ from the published limits, by category; 0: unlimited. */
  readonly rateLimits: Readonly<Record<string, number | null>>;
}

/** Permissions that include others: `admin:write` is all of an administrator's subjects. */
const INCLUDED: Readonly<Record<string, readonly Permission[]>> = {
  "write": ["deposit"],
  "admin:write": ADMIN_SUBJECTS,
};

/** True where a list of permissions holds one, by name or within another. */
export function holds(permissions: readonly string[], wanted: string): boolean {
  return permissions.some((permission) =>
    permission === wanted || INCLUDED[permission]?.some((included) => included === wanted)
  );
}

/** True where the caller has at least one of the permissions. */
export function hasAnyOf(
  caller: Pick<Caller, "permissions">,
  permissions: readonly Permission[],
): boolean {
  return permissions.some((permission) => holds(caller.permissions, permission));
}

/** The actor behind a key, as records name it. */
export function actorOf(caller: Pick<Caller, "keyId" | "administrator">): Actor {
  return { key: caller.keyId, administrator: caller.administrator };
}
