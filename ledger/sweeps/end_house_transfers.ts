import type { TransactionSql } from "postgres";
import type { Network } from "../money/pair.ts";
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
 * Carries out what follows from the ends of transfers of the house, in the transaction that records
 * them: merchants whose top-ups they carried are told, failed ones give their transfers back to the
 * planner. What succeeded without the intended transfer keeps them until the operator has looked.
 * A handful of statements, however many there are.
 *
 * @returns the merchants that have something to hear
 */
export async function endHouseTransfers(
  tx: TransactionSql,
  network: Network,
  ends: readonly HouseEnd[],
): Promise<readonly string[]> {
  if (ends.length === 0) return [];
  const failed = ends.filter(({ result }) => result === "failed");
  if (failed.length > 0) {
    await tx`
      UPDATE book.outgoing o SET status = 'void', reason = 'failed: ' || f.reason, updated_at = now()
      FROM unnest(${failed.map(({ outgoingId }) => outgoingId)}::text[],
        ${failed.map(({ reason }) => String(reason))}::text[]) AS f(id, reason)
      WHERE o.id = f.id AND o.merchant_id = ${PLATFORM_ACCOUNT} AND o.status = 'dead'`;
  }
  const isSweep = ({ kind }: HouseEnd) => kind === "sweep";
  const idOf = ({ outgoingId }: HouseEnd) => outgoingId;
  await releaseSweepItems(tx, failed.filter(isSweep).map(idOf));
  await touchSweepTargets(tx, network, ends.map(idOf));
  return await tellSwept(
    tx,
    ends.filter((end) => end.result === "paid" && isSweep(end)).map(idOf),
  );
}
