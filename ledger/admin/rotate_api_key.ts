import type { Sql } from "../database/connect.ts";
import { hasRoom, MOST_KEYS_IN_ROTATION, type NewKey, putKey } from "./insert_api_key.ts";
import { type HubAudit, writeAudit } from "./write_audit.ts";

/**
 * Puts a new key in the place of another one, which stays valid for a while at most.
 *
 * @param until when the old key ends, unless it ends before; Unix milliseconds
 * @returns when the old key ends, or `null` when it is revoked or has ended already: nothing
 *   was changed then; `too_many`: the same, as the merchant has as many keys as it may have
 */
export async function rotateApiKey(
  sql: Sql,
  oldId: string,
  fresh: NewKey,
  until: number,
  audit: HubAudit,
): Promise<number | null | "too_many"> {
  return await sql.begin(async (tx) => {
    if (!await hasRoom(tx, fresh.merchantId, MOST_KEYS_IN_ROTATION)) return "too_many";
    const [old] = await tx<{ expires_at: Date }[]>`
      UPDATE hub.api_key SET expires_at = least(expires_at, ${new Date(until)})
      WHERE id = ${oldId} AND merchant_id IS NOT DISTINCT FROM ${fresh.merchantId}
        AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${new Date(fresh.createdAt)})
      RETURNING expires_at`;
    if (old === undefined) return null;
    await putKey(tx, fresh);
    await writeAudit(tx, audit);
    return old.expires_at.getTime();
  });
}
