/**
 * What a key may do.
 *
 * @module
 */

/** Every permission there is. */
export const PERMISSIONS = ["read", "write", "payout", "admin:read", "admin:write"] as const;

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
  /** Addresses and ranges the key may be used from; null: from anywhere. */
  readonly ipAllowlist: readonly string[] | null;
  /** Unix milliseconds, null: never. */
  readonly expiresAt: number | null;
  /** Requests per minute that differ from the published limits, by category; 0: unlimited. */
  readonly rateLimits: Readonly<Record<string, number | null>>;
}

/** Whether the caller has at least one of the permissions. */
export function hasAnyOf(caller: Caller, permissions: readonly Permission[]): boolean {
  return permissions.some((permission) => caller.permissions.includes(permission));
}
