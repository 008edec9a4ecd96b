import type { Sql } from "../database/connect.ts";
import { KEYS_LOCK } from "./insert_first_admin_key.ts";
import { type HubAudit, writeAudit } from "./write_audit.ts";

/**
 * Ends a key now.
 *
 * @param merchantId null: one of the administrators' keys, of which the last one that can manage
 *   keys is kept
 */
export async function revokeApiKey(
  sql: Sql,
  merchantId: string | null,
  keyId: string,
  audit: HubAudit,
): Promise<"revoked" | "not_found" | "last_admin"> {
  return await sql.begin(async (tx) => {
    if (merchantId === null) {
      // two administrators who revoke each other's key must not both succeed
      await tx`SELECT pg_advisory_xact_lock(${KEYS_LOCK}::bigint)`;
      const [other] = await tx`
        SELECT 1 FROM hub.api_key WHERE role = 'ADMIN' AND id <> ${keyId} AND revoked_at IS NULL
          AND (expires_at IS NULL OR expires_at > now()) AND 'admin:write' = ANY (permissions) LIMIT 1`;
      if (other === undefined) return "last_admin";
    }
    const revoked = await tx`
      UPDATE hub.api_key SET revoked_at = now()
      WHERE id = ${keyId} AND merchant_id IS NOT DISTINCT FROM ${merchantId} AND revoked_at IS NULL
      RETURNING 1`;
    if (revoked.length === 0) return "not_found";
    await writeAudit(tx, audit);
    return "revoked";
  });
}
