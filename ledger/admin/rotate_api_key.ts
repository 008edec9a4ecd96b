import type { Sql } from "../database/connect.ts";
import { type KeyStanding, requireApproval, standingOf } from "./key_standing.ts";
import { hasRoom, MOST_KEYS_IN_ROTATION, type NewKey, putKey } from "./insert_api_key.ts";
import { type HubAudit, writeAudit } from "./write_audit.ts";

/** A key that was replaced. */
export interface Rotated extends KeyStanding {
  /** When the old key ends, Unix milliseconds. */
  readonly ends: number;
  /** Keys of the account, the old one included, that have no payout right any more until they are approved. */
  readonly nowNeedApproval: readonly string[];
}

/**
 * Puts a new key in the place of another one, which stays valid for a while at most.
 *
 * @param makerId the key that asks for it
 * @param until when the old key ends, unless it ends before; Unix milliseconds
 * @returns what has become of the keys, or `null` when the old one is revoked or has ended already: nothing
 *   was changed then; `too_many`: the same, as the merchant has as many keys as it may have
 */
export async function rotateApiKey(
  sql: Sql,
  oldId: string,
  fresh: NewKey,
  makerId: string,
  until: number,
  audit: (rotated: Rotated) => HubAudit,
): Promise<Rotated | null | "too_many"> {
  return await sql.begin(async (tx) => {
    if (!await hasRoom(tx, fresh.merchantId, MOST_KEYS_IN_ROTATION)) return "too_many";
    const standing = await standingOf(tx, fresh, makerId, oldId);
    const [old] = await tx<{ expires_at: Date }[]>`
      UPDATE hub.api_key SET expires_at = least(expires_at, ${new Date(until)})
      WHERE id = ${oldId} AND merchant_id IS NOT DISTINCT FROM ${fresh.merchantId}
        AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${new Date(fresh.createdAt)})
      RETURNING expires_at`;
    if (old === undefined) return null;
    // who handed the key over may know it, and have others of the account
    const nowNeedApproval = standing.isHandOver && fresh.merchantId !== null
      ? await requireApproval(tx, fresh.merchantId, fresh.administrator)
      : [];
    await putKey(tx, fresh, standing);
    const { needsApproval, handedOver } = standing;
    const ends = old.expires_at.getTime();
    const rotated = { ends, needsApproval, handedOver, nowNeedApproval };
    await writeAudit(tx, audit(rotated));
    return rotated;
  });
}
