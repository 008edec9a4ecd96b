import type { Sql } from "../database/connect.ts";
import type { ResellerRecord } from "./reseller_record.ts";
import { type HubAudit, writeAudit } from "./write_audit.ts";

/**
 * Keeps a new reseller, with the line of the audit.
 *
 * @returns false when the merchant account belongs to a reseller already: nothing was changed
 */
export async function insertReseller(
  sql: Sql,
  reseller: ResellerRecord,
  audit: HubAudit,
): Promise<boolean> {
  return await sql.begin(async (tx) => {
    const { id, merchantId, name, withdrawalAddress, network, createdAt } = reseller;
    const at = new Date(createdAt);
    const inserted = await tx`
      INSERT INTO hub.reseller (id, merchant_id, name, withdrawal_address, network, created_at, updated_at)
      VALUES (${id}, ${merchantId}, ${name}, ${withdrawalAddress}, ${network}, ${at}, ${at})
      ON CONFLICT (merchant_id) DO NOTHING RETURNING 1`;
    if (inserted.length === 0) return false;
    await writeAudit(tx, audit);
    return true;
  });
}
