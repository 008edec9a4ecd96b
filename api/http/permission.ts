/**
 * What a key may do.
 *
 * @module
 */

import type { Actor } from "../../ledger/money/duties.ts";

/** What an administrator may change, by subject. */
export const ADMIN_SUBJECTS = [
  "admin:payments",
  "admin:merchants",
  "admin:keys",
  "admin:settings",
  "admin:treasury",
  "admin:ingest",
] as const;

/** Every permission there is. */
export const PERMISSIONS = [
  "read",
  "write",
  "payout",
  "deposit",
  "admin:read",
  "admin:write",
  ...ADMIN_SUBJECTS,
] as const;

/** One of {@linkcode PERMISSIONS}. */
export type Permission = (typeof PERMISSIONS)[number];

/** Whom a key stands for. */
export const KEY_ROLES = ["MERCHANT", "RESELLER", "ADMIN"] as const;

/** One of {@linkcode KEY_ROLES}. */
export type KeyRole = (typeof KEY_ROLES)[number];

/** Who is asking, as the key says. */
export interface Caller {
  readonly keyId: string;
  readonly role: KeyRole;
  /** The merchant account the key belongs to; null for an administrator. */
  readonly merchantId: string | null;
  /** Whether that account may create payments; true for an administrator. */
  readonly isActive: boolean;
  readonly permissions: readonly string[];
  /** The administrator who stands behind the key: whose key made it; null: none. */
  readonly administrator: string | null;
  /** Whether the key has no payout right before another administrator has approved it; see `awaitsApproval`. */
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

/** Whether a list of permissions holds one, by name or within another. */
export function holds(permissions: readonly string[], wanted: string): boolean {
  return permissions.some((permission) =>
    permission === wanted || INCLUDED[permission]?.some((included) => included === wanted)
  );
}

/** Whether the caller has at least one of the permissions. */
export function hasAnyOf(
  caller: Pick<Caller, "permissions">,
  permissions: readonly Permission[],
): boolean {
  return permissions.some((permission) => holds(caller.permissions, permission));
}

/** Who acts with a key, as records keep it. */
export function actorOf(caller: Pick<Caller, "keyId" | "administrator">): Actor {
  return { key: caller.keyId, administrator: caller.administrator };
}
