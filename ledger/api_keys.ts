import type { Row } from "postgres";
import type { Sql } from "./database/connect.ts";
import type { MerchantStatus } from "./rows.ts";

/** A key as it is kept; the key itself is not. Times are Unix milliseconds. */
export interface KeyRecord {
  readonly id: string;
  /** Null for an administrator's key. */
  readonly merchantId: string | null;
  readonly role: "MERCHANT" | "RESELLER" | "ADMIN";
  readonly permissions: readonly string[];
  /** The administrator who stands behind it: who made the key that made it; null: none. */
  readonly administrator: string | null;
  /** True if it has no payout right before another administrator has approved it, where persons are told apart. */
  readonly needsApproval: boolean;
  readonly label: string;
  readonly ipAllowlist: readonly string[] | null;
  readonly expiresAt: number | null;
  /** To a few minutes; null: never used. */
  readonly lastUsedAt: number | null;
  readonly createdAt: number;
}

/** Reads a row of hub.api_key. */
function keyRecord(row: Row): KeyRecord {
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

/**
 * One key of a merchant that is not revoked.
 *
 * @param merchantId null: one of the administrators' keys
 */
export async function findApiKey(
  sql: Sql,
  merchantId: string | null,
  keyId: string,
): Promise<KeyRecord | null> {
  const [row] = await sql`
    SELECT * FROM hub.api_key
    WHERE id = ${keyId} AND merchant_id IS NOT DISTINCT FROM ${merchantId} AND revoked_at IS NULL`;
  return row === undefined ? null : keyRecord(row);
}

/** A key that was not revoked, with what its use needs to know of its merchant. */
export interface StoredKey {
  readonly id: string;
  readonly role: "MERCHANT" | "RESELLER" | "ADMIN";
  readonly permissions: readonly string[];
  /** The administrator who stands behind it; null: none. */
  readonly administrator: string | null;
  /** True if it has no payout right before another administrator has approved it, where persons are told apart. */
  readonly needsApproval: boolean;
  readonly ipAllowlist: readonly string[] | null;
  /** Unix milliseconds, null: never. */
  readonly expiresAt: number | null;
  /** Null for an administrator's key. */
  readonly merchantId: string | null;
  readonly merchantStatus: MerchantStatus | null;
  /** Requests per minute that differ from the published limits; empty for an administrator. */
  readonly rateLimits: Readonly<Record<string, number | null>>;
  /** Unix milliseconds, to a few minutes; null: never. */
  readonly lastUsedAt: number | null;
}

/**
 * Reads keys by their SHA-256.
 *
 * @param hashes lowercase hex
 * @returns the keys that exist and are not revoked, by hash
 */
export async function findApiKeys(
  sql: Sql,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, StoredKey>> {
  const rows = await sql<{
    hash: string;
    id: string;
    role: StoredKey["role"];
    permissions: string[];
    administrator: string | null;
    needs_approval: boolean;
    ip_allowlist: string[] | null;
    expires_at: Date | null;
    merchant_id: string | null;
    status: MerchantStatus | null;
    rate_limits: Record<string, number | null> | null;
    last_used_at: Date | null;
  }[]>`
    SELECT encode(k.hash, 'hex') AS hash, k.id, k.role, k.permissions, k.ip_allowlist, k.expires_at,
      k.merchant_id, k.last_used_at,
      coalesce(k.administrator, CASE k.role WHEN 'ADMIN' THEN k.id END) AS administrator, m.status, m.rate_limits,
      k.needs_approval
    FROM hub.api_key k LEFT JOIN book.merchant m ON m.merchant_id = k.merchant_id
    WHERE k.hash = ANY (SELECT decode(h, 'hex') FROM unnest(${[...hashes]}::text[]) h)
      AND k.revoked_at IS NULL AND (k.merchant_id IS NULL OR m.merchant_id IS NOT NULL)`;
  return new Map(rows.map((row) => [row.hash, {
    id: row.id,
    role: row.role,
    permissions: row.permissions,
    administrator: row.administrator,
    needsApproval: row.needs_approval,
    ipAllowlist: row.ip_allowlist,
    expiresAt: row.expires_at?.getTime() ?? null,
    merchantId: row.merchant_id,
    merchantStatus: row.status,
    rateLimits: row.rate_limits ?? {},
    lastUsedAt: row.last_used_at?.getTime() ?? null,
  }]));
}

/** Keys shown at most. */
const MOST = 1_000;

/**
 * The keys of a merchant that are not revoked, newest first.
 *
 * @param merchantId null: the administrators' keys
 */
export async function listApiKeys(
  sql: Sql,
  merchantId: string | null,
): Promise<readonly KeyRecord[]> {
  const rows = await sql`
    SELECT * FROM hub.api_key
    WHERE merchant_id IS NOT DISTINCT FROM ${merchantId} AND revoked_at IS NULL
    ORDER BY id DESC LIMIT ${MOST}`;
  return rows.map(keyRecord);
}

/** Notes that keys were just used. */
export async function markKeysUsed(sql: Sql, keyIds: readonly string[]): Promise<void> {
  await sql`UPDATE hub.api_key SET last_used_at = now() WHERE id = ANY (${[...keyIds]}::text[])`;
}
