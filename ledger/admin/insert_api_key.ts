import type { AnySql, Sql } from "../database/connect.ts";
import type { KeyRecord } from "./key_record.ts";
import { type HubAudit, writeAudit } from "./write_audit.ts";

/** A key to be kept: everything but the key, of which only the hash is. */
export interface NewKey extends Omit<KeyRecord, "lastUsedAt"> {
  /** SHA-256 of the key, lowercase hex. */
  readonly hash: string;
}

/** Keeps a new key, together with its line of the audit. */
export async function insertApiKey(sql: Sql, key: NewKey, audit: HubAudit): Promise<void> {
  await sql.begin(async (tx) => {
    await putKey(tx, key);
    await writeAudit(tx, audit);
  });
}

/** The insert alone, for statements that do more in the same transaction. */
export async function putKey(sql: AnySql, key: NewKey): Promise<void> {
  await sql`
    INSERT INTO hub.api_key (id, hash, merchant_id, role, permissions, label, ip_allowlist, expires_at, created_at)
    VALUES (${key.id}, decode(${key.hash}, 'hex'), ${key.merchantId}, ${key.role},
      ${[...key.permissions]}::text[], ${key.label},
      ${key.ipAllowlist === null ? null : [...key.ipAllowlist]}::text[],
      ${key.expiresAt === null ? null : new Date(key.expiresAt)}, ${new Date(key.createdAt)})`;
}
