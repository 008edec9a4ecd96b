import { getLogger } from "@logtape/logtape";
import type { JournalStore } from "../../ledger/journal/store.ts";

const log = getLogger(["engine", "journal"]);

/** Pause before a lost database is asked again. */
const RETRY_MS = 100;
/** Connections that a question may lose while the database answers others. */
const LOSSES = 8;

/**
 * Asks the database again until it answers. For questions that change nothing, so that waiting loses
 * nothing: a sender's own deadline answers it. A question that loses its connection again and again
 * while the database answers others is given up: it would hold all merchants.
 *
 * @param isStopping ends the waiting
 * @param onLost called for every connection that was lost: another server may answer next
 * @throws any error but a lost connection, and that one when given up
 */
export async function retry<T>(
  store: JournalStore,
  isStopping: () => boolean,
  ask: () => Promise<T>,
  onLost: () => void,
): Promise<T> {
  for (let losses = 1;; losses++) {
    try {
      return await ask();
    } catch (error) {
      if (!store.isConnectionError(error)) throw error;
      onLost();
      if (isStopping() || losses === LOSSES) throw error;
      log.warn("the database does not answer, asking again: {error}", { error });
      await untilThere(store, isStopping);
    }
  }
}

/** Waits until the database answers anything at all. */
async function untilThere(store: JournalStore, isStopping: () => boolean): Promise<void> {
  do {
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    try {
      await store.readSettings();
      return;
    } catch (error) {
      if (!store.isConnectionError(error)) return;
    }
  } while (!isStopping());
}
