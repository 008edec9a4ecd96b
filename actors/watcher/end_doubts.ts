import type { Sql } from "postgres";
import { logEvent } from "../../log/log_event.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { recordExpiryDoubts } from "../../ledger/treasury/expired_attempts.ts";
import type { EndDoubt } from "../../ledger/watcher/end_proofs.ts";

/** Doubt about the end of a transfer in a block. */
export interface ListedDoubt extends EndDoubt {
  readonly outgoingId: string;
  readonly height: number;
}

/** Keeps why ends that blocks show are not written, and tells what is new of it. */
export async function tellEndDoubts(
  sql: Sql,
  network: Network,
  doubts: readonly ListedDoubt[],
): Promise<void> {
  const told = new Map(doubts.map(({ outgoingId, height, reason, isAlarming }) => [
    outgoingId,
    { reason: `in block ${height}, and not ended yet: ${reason}`, isAlarming },
  ]));
  const reasons = new Map([...told].map(([id, { reason }]) => [id, reason]));
  for (const outgoingId of await recordExpiryDoubts(sql, reasons)) {
    const { reason, isAlarming } = told.get(outgoingId) ?? {};
    const event = isAlarming === true ? "transfer.disputed" : "transfer.unproven";
    logEvent(event, { network, outgoingId, reason });
  }
}
