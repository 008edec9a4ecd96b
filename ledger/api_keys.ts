import type { AnySql, Sql } from "./database/connect.ts";
import type { MerchantStatus } from "./rows.ts";
import { shape } from "./shape.ts";
import { boolean, json, orNull, type RowOf, text, texts, time } from "./table.ts";

const USE = {
  id: text(),
  /** Null for an administrator's key. */
  merchantId: orNull(text()),
  role: text<"MERCHANT" | "RESELLER" | "ADMIN">(),
  permissions: texts(),
  /** The administrator who stands behind it: who made the key that made it; null: none. */
  administrator: orNull(text()),
  /** True if it has no payout right before another administrator has approved it, where persons are told apart. */
  needsApproval: boolean(),
  ipAllowlist: orNull(texts()),
  /** Null: never. */
  expiresAt: orNull(time()),
  /** To a few minutes; null: never used. */
  lastUsedAt: orNull(time()),
};

const keyShape = shape({ ...USE, label: text(), createdAt: time() });
/** A key as it is stored; the key itself is not. Times are Unix milliseconds. */
export type KeyRecord = RowOf<typeof keyShape>;

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
  return keyShape.first(
    await sql`
    SELECT * FROM hub.api_key
    WHERE id = ${keyId} AND merchant_id IS NOT DISTINCT FROM ${merchantId} AND revoked_at IS NULL`,
  );
}

const usedKey = shape({
  ...USE,
  merchantStatus: orNull(text<MerchantStatus>()),
  /** Requests per minute that differ from the published limits; empty for an administrator. */
  rateLimits: json<Readonly<Record<string, number | null>>>(),
});
/** A key that was not revoked, with what its use needs to know of its merchant. */
export type StoredKey = RowOf<typeof usedKey>;

/**
 * Reads keys by their SHA-256, each in one place of its index. The key of a caller is read anew every second, a
 * few of them with each batch: joined, all keys there are were looked through for these, up to some thousands.
 *
 * @param hashes lowercase hex
 * @returns the keys that exist and are not revoked, by hash
 */
export async function findApiKeys(
  sql: AnySql,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, StoredKey>> {
  const rows = await sql`
    SELECT encode(k.hash, 'hex') AS hash, k.id, k.role, k.permissions, k.ip_allowlist, k.expires_at,
      k.merchant_id, k.last_used_at, k.needs_approval,
      coalesce(k.administrator, CASE k.role WHEN 'ADMIN' THEN k.id END) AS administrator,
      m.status AS merchant_status, coalesce(m.rate_limits, '{}') AS rate_limits
    FROM unnest(${[...hashes]}::text[]) h
    CROSS JOIN LATERAL (SELECT * FROM hub.api_key x WHERE x.hash = decode(h, 'hex') LIMIT 1) k
    LEFT JOIN LATERAL (SELECT * FROM book.merchant x WHERE x.merchant_id = k.merchant_id LIMIT 1) m ON true
    WHERE k.revoked_at IS NULL AND (k.merchant_id IS NULL OR m.merchant_id IS NOT NULL)`;
  return new Map(rows.map((row) => [row.hash, usedKey.decode(row)]));
}

/** Keys shown at most. */
const MOST = 1_000;

/**
 * The keys of a merchant that are not revoked, newest first. No index serves `IS NOT DISTINCT FROM`: the keys of all
 * merchants would be read for those of one.
 *
 * @param merchantId null: the administrators' keys
 */
export async function listApiKeys(
  sql: Sql,
  merchantId: string | null,
): Promise<readonly KeyRecord[]> {
  return keyShape.all(
    await sql`
    SELECT * FROM hub.api_key
    WHERE ${merchantId === null ? sql`merchant_id IS NULL` : sql`merchant_id = ${merchantId}`}
      AND revoked_at IS NULL
    ORDER BY merchant_id DESC, id DESC LIMIT ${MOST}`,
  );
}

/**
 * Records that keys were just used. One that another transaction changes at the moment is left to its next use: who
 * replaces a key locks others of its account as well, and of two that wait for each other one would fail.
 */
export async function markKeysUsed(sql: Sql, keyIds: readonly string[]): Promise<void> {
  await sql`
    UPDATE hub.api_key SET last_used_at = now() WHERE id = ANY (ARRAY(
      SELECT id FROM hub.api_key WHERE id = ANY (${[
    ...keyIds,
  ]}::text[]) FOR NO KEY UPDATE SKIP LOCKED))`;
}
