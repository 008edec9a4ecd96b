import type { AnySql, Sql } from "../database/connect.ts";
import type { KeyRecord } from "./key_record.ts";
import { type KeyStanding, NO_STANDING, standingOf } from "./key_standing.ts";
import { type HubAudit, writeAudit } from "./write_audit.ts";

/** A key to be kept: everything but the key, of which only the hash is. */
export interface NewKey extends Omit<KeyRecord, "lastUsedAt" | "needsApproval"> {
  /** SHA-256 of the key, lowercase hex. */
  readonly hash: string;
}

/** Living keys that a merchant may make. */
export const MOST_KEYS = 25;

/** Living keys with those that are being replaced; the database refuses more. */
export const MOST_KEYS_IN_ROTATION = 50;

/**
 * Keeps a new key, together with its line of the audit.
 *
 * @param makerId the key that makes it
 * @returns how far it is the merchant's own; null where the merchant has as many as it may have: nothing was changed
 */
export async function insertApiKey(
  sql: Sql,
  key: NewKey,
  makerId: string,
  audit: (standing: KeyStanding) => HubAudit,
): Promise<KeyStanding | null> {
  return await sql.begin(async (tx) => {
    if (!await hasRoom(tx, key.merchantId, MOST_KEYS)) return null;
    const standing = await standingOf(tx, key, makerId, null);
    await putKey(tx, key, standing);
    await writeAudit(tx, audit(standing));
    return standing;
  });
}

/** True where a merchant has fewer living keys; until the transaction ends nobody adds one. */
export async function hasRoom(
  tx: AnySql,
  merchantId: string | null,
  most: number,
): Promise<boolean> {
  if (merchantId === null) return true;
  const [found] = await tx<{ living: number }[]>`
    SELECT hub.living_keys(${merchantId}) AS living`;
  return found !== undefined && found.living < most;
}

/** The insert alone, for statements that do more in the same transaction. */
export async function putKey(
  sql: AnySql,
  key: NewKey,
  standing: KeyStanding = NO_STANDING,
): Promise<void> {
  await sql`
    INSERT INTO hub.api_key (id, hash, merchant_id, role, permissions, administrator, needs_approval, handed_over,
      label, ip_allowlist, expires_at, created_at)
    VALUES (${key.id}, decode(${key.hash}, 'hex'), ${key.merchantId}, ${key.role},
      ${[
    ...key.permissions,
  ]}::text[], ${key.administrator}, ${standing.needsApproval}, ${standing.handedOver}, ${key.label},
      ${key.ipAllowlist === null ? null : [...key.ipAllowlist]}::text[],
      ${key.expiresAt === null ? null : new Date(key.expiresAt)}, ${new Date(key.createdAt)})`;
}
