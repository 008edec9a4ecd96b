import type { Quarantining } from "../../ledger/journal/quarantine_rows.ts";
import type { JournalStore } from "../../ledger/journal/store.ts";
import { logEvent } from "../../log/log_event.ts";

/** Statements that the rows of one batch are quarantined with, at most: others wait for them. */
const MOST_STATEMENTS = 32;

/**
 * Quarantines rows of the inbox in one statement. Where that fails for one of them, the row is found in
 * ever smaller parts and stays as it is, as does what the database refuses for reasons of its own: both
 * are met again by a later wake-up. No batch fails, or waits for long, for the sake of one row.
 */
export async function quarantineApart(
  store: Pick<
    JournalStore,
    "quarantineInboxRows" | "isConnectionError" | "isTransient" | "isLocked"
  >,
  rows: readonly Quarantining[],
): Promise<void> {
  const left = rows.length === 0 ? [] : [rows];
  for (let statements = 0; statements < MOST_STATEMENTS; statements++) {
    const part = left.pop();
    if (part === undefined) return;
    try {
      await store.quarantineInboxRows(part);
    } catch (error) {
      const isServers = store.isConnectionError(error) || store.isTransient(error) ||
        store.isLocked(error);
      if (isServers || part.length === 1) {
        logEvent("journal.row_not_quarantined", { txid: part[0]?.key.txid, error });
        if (isServers) return;
        continue;
      }
      const half = Math.ceil(part.length / 2);
      left.push(part.slice(half), part.slice(0, half));
    }
  }
}
