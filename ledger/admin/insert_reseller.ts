import type { Sql } from "../database/connect.ts";
import { requireApproval } from "./key_standing.ts";
import type { ResellerRecord } from "./reseller_record.ts";
import { type HubAudit, writeAudit } from "./write_audit.ts";

/**
 * Keeps a new reseller, with the line of the audit. Keys that its account has from administrators have no payout
 * right until another one has approved them.
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
    // what a reseller earns, one administrator sets: the account's keys behind one pay it out with a second word alone
    await tx`SELECT hub.living_keys(${merchantId})`;
    await requireApproval(tx, merchantId, null);
    await writeAudit(tx, audit);
    return true;
  });
}
