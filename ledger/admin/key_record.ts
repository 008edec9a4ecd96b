import type { Row } from "postgres";

/** A key as it is kept; the key itself is not. Times are Unix milliseconds. */
export interface KeyRecord {
  readonly id: string;
  /** Null for an administrator's key. */
  readonly merchantId: string | null;
  readonly role: "MERCHANT" | "RESELLER" | "ADMIN";
  readonly permissions: readonly string[];
  /** The administrator who stands behind it: who made the key that made it; null: none. */
  readonly administrator: string | null;
  /** Whether it has no payout right before another administrator has approved it, where persons are told apart. */
  readonly needsApproval: boolean;
  readonly label: string;
  readonly ipAllowlist: readonly string[] | null;
  readonly expiresAt: number | null;
  /** To a few minutes; null: never used. */
  readonly lastUsedAt: number | null;
  readonly createdAt: number;
}

/** Reads a row of hub.api_key. */
export function keyRecord(row: Row): KeyRecord {
  return {
    id: row.id,
    merchantId: row.merchant_id,
    role: row.role,
    permissions: row.permissions,
    administrator: row.administrator,
    needsApproval: row.needs_approval,
    label: row.label,
    ipAllowlist: row.ip_allowlist,
    expiresAt: row.expires_at?.getTime() ?? null,
    lastUsedAt: row.last_used_at?.getTime() ?? null,
    createdAt: row.created_at.getTime(),
  };
}
