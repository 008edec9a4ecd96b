import type { Sql } from "../database/connect.ts";
import type { Network } from "../pair.ts";
import { type ResellerRecord, resellerRecord } from "./reseller_record.ts";
import { type HubAudit, writeAudit } from "./write_audit.ts";

/** Fields that are changed; absent ones stay. */
export interface ResellerPatch {
  readonly name?: string | undefined;
  readonly withdrawalAddress?: string | undefined;
  readonly network?: Network | undefined;
}

/**
 * Changes a reseller, with the line of the audit. Withdrawals that exist keep their destination.
 *
 * @returns the reseller after the change; `null` where there is none of that id
 */
export async function updateReseller(
  sql: Sql,
  resellerId: string,
  patch: ResellerPatch,
  audit: Omit<HubAudit, "before" | "after">,
): Promise<ResellerRecord | null> {
  return await sql.begin(async (tx) => {
    const [old] = await tx`SELECT * FROM hub.reseller WHERE id = ${resellerId} FOR UPDATE`;
    if (old === undefined) return null;
    const before = resellerRecord(old);
    const [row] = await tx`
      UPDATE hub.reseller SET name = ${patch.name ?? before.name},
        withdrawal_address = ${patch.withdrawalAddress ?? before.withdrawalAddress},
        network = ${patch.network ?? before.network}, updated_at = now()
      WHERE id = ${resellerId} RETURNING *`;
    if (row === undefined) throw new Error(`Cannot change a reseller as it is gone: ${resellerId}`);
    const after = resellerRecord(row);
    await writeAudit(tx, { ...audit, before: imageOf(before), after: imageOf(after) });
    return after;
  });
}

function imageOf({ name, withdrawalAddress, network }: ResellerRecord) {
  return { name, withdrawalAddress, network };
}
