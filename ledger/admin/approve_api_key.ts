import type { Sql } from "../database/connect.ts";
import { type HubAudit, writeAudit } from "./write_audit.ts";

/**
 * Gives a merchant's key its payout right, together with the line of the audit.
 *
 * @returns false where the key has ended, or needs no approval: nothing was changed
 */
export async function approveApiKey(
  sql: Sql,
  merchantId: string,
  keyId: string,
  audit: HubAudit,
): Promise<boolean> {
  return await sql.begin(async (tx) => {
    const approved = await tx`
      UPDATE hub.api_key SET needs_approval = false
      WHERE id = ${keyId} AND merchant_id = ${merchantId} AND revoked_at IS NULL AND needs_approval
      RETURNING 1`;
    if (approved.length === 0) return false;
    await writeAudit(tx, audit);
    return true;
  });
}
