import { getLogger } from "@logtape/logtape";
import type { JournalStore } from "../../ledger/journal/store.ts";
import type { InboxKey } from "../../ledger/rows.ts";

const log = getLogger(["engine", "journal"]);

/**
 * Sets an inbox row aside. Where the database refuses, the row stays as it is and is met again by
 * the next wake-up: no batch fails, or waits, for the sake of one row.
 */
export async function quarantine(
  store: JournalStore,
  key: InboxKey,
  reason: string,
): Promise<void> {
  try {
    await store.quarantineInboxRow(key, reason);
  } catch (error) {
    log.warn("an inbox row cannot be set aside now, it is met again: {txid}: {error}", {
      txid: key.txid,
      error,
    });
  }
}
