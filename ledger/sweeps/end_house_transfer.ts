import type { TransactionSql } from "postgres";
import type { Network } from "../pair.ts";
import { PLATFORM_ACCOUNT } from "../treasury/platform_account.ts";
import { releaseSweepItems } from "./release_sweep_items.ts";
import { tellSwept } from "./tell_swept.ts";
import { touchSweepTargets } from "./touch_sweep_targets.ts";

/** The end of a transfer of the house, as its transaction told it or the lack of one did. */
export interface HouseEnd {
  readonly outgoingId: string;
  readonly kind: string;
  /** `failed`: it moved nothing and never will; the row is `dead` and given up by this. */
  readonly result: "paid" | "failed" | "unexpected";
  readonly reason: string | null;
}

/**
 * Carries out what follows from the end of a transfer of the house, in the transaction that records
 * it: merchants whose top-ups it carried are told, a failed one gives its transfers back to the
 * planner. What succeeded without the intended transfer keeps them until the operator has looked.
 *
 * @returns the merchants that have something to hear
 */
export async function endHouseTransfer(
  tx: TransactionSql,
  network: Network,
  { outgoingId, kind, result, reason }: HouseEnd,
): Promise<readonly string[]> {
  if (result === "failed") {
    await tx`
      UPDATE book.outgoing SET status = 'void', reason = ${`failed: ${reason}`}, updated_at = now()
      WHERE id = ${outgoingId} AND merchant_id = ${PLATFORM_ACCOUNT} AND status = 'dead'`;
    if (kind === "sweep") await releaseSweepItems(tx, [outgoingId]);
  }
  await touchSweepTargets(tx, network, [outgoingId]);
  return result === "paid" && kind === "sweep" ? await tellSwept(tx, [outgoingId]) : [];
}
