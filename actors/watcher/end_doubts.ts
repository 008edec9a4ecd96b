import type { Sql } from "postgres";
import { logEvent } from "../../log/log_event.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { recordExpiryDoubts } from "../../ledger/treasury/expired_attempts.ts";
import { type EndDoubt, SEVERAL_BLOCKS } from "../../ledger/watcher/end_proofs.ts";
import { readListedHeights } from "../../ledger/watcher/late_outcomes.ts";

/** Doubt about the end of a transfer in a block. */
export interface ListedDoubt extends EndDoubt {
  readonly outgoingId: string;
  readonly height: number;
}

/**
 * Keeps why ends that blocks show are not written, and tells what is new of it. Their blocks are read one by one: a transfer that is
 * listed for several has one reason for all of them, which would otherwise change at each look.
 */
export async function tellEndDoubts(
  sql: Sql,
  network: Network,
  doubts: readonly ListedDoubt[],
): Promise<void> {
  if (doubts.length === 0) return;
  const listed = await readListedHeights(sql, doubts.map(({ outgoingId }) => outgoingId));
  const told = new Map(doubts.map(({ outgoingId, height, ...doubt }) => {
    const heights = listed.get(outgoingId) ?? [];
    const where = heights.length > 1 ? `blocks ${heights.join(" and ")}` : `block ${height}`;
    const { reason, isAlarming } = heights.length > 1 ? SEVERAL_BLOCKS : doubt;
    return [outgoingId, { reason: `in ${where}, and not ended yet: ${reason}`, isAlarming }];
  }));
  const reasons = new Map([...told].map(([id, { reason }]) => [id, reason]));
  for (const outgoingId of await recordExpiryDoubts(sql, reasons)) {
    const { reason, isAlarming } = told.get(outgoingId) ?? {};
    const event = isAlarming === true ? "transfer.disputed" : "transfer.unproven";
    logEvent(event, { network, outgoingId, reason });
  }
}
