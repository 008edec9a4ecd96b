import type { Sql } from "postgres";
import { PLATFORM_ACCOUNT } from "../treasury/platform_account.ts";
import type { SweepTarget } from "./due_targets.ts";
import { releaseSweepItems } from "./release_sweep_items.ts";
import { touchSweepTargets } from "./touch_sweep_targets.ts";

/**
 * Takes a transfer for an address back that could not be signed for too long, so that it is planned
 * again on what is true now. Signing moves the same row, so that only one of the two happens.
 *
 * @returns whether it was taken back
 */
export async function withdrawStep(
  sql: Sql,
  target: SweepTarget,
  outgoingId: string,
  why: string,
): Promise<boolean> {
  return await sql.begin(async (tx) => {
    const { count } = await tx`
      UPDATE book.outgoing SET status = 'void', reason = ${`withdrawn: ${why}`}, lease_until = NULL, updated_at = now()
      WHERE id = ${outgoingId} AND merchant_id = ${PLATFORM_ACCOUNT} AND status = 'queued'
        AND (lease_until IS NULL OR lease_until < now() OR reason IS NOT NULL)`;
    if (count === 0) return false;
    await releaseSweepItems(tx, [outgoingId]);
    await touchSweepTargets(tx, target.network, [outgoingId]);
    return true;
  });
}
