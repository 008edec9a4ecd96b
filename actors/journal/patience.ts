import { getLogger } from "@logtape/logtape";
import type { JournalStore } from "../../ledger/journal/store.ts";

const log = getLogger(["engine", "journal"]);

/** Pause before a lost database is asked again. */
const RETRY_MS = 100;
/** How often a question may lose its connection while the database answers others. */
const LOSSES = 8;

/**
 * Asks the database until it answers. For what decides nothing by itself, so that waiting loses
 * nothing; whoever waits for an answer is told by its own deadline. A question that loses its
 * connection again and again while the database answers others is given up: it would hold everyone.
 *
 * @param givenUp ends the waiting (the process is stopping)
 * @param onLost told of every connection that was lost: another server may answer next
 * @throws any error but a lost connection, and that one when given up
 */
export async function untilAnswered<T>(
  store: JournalStore,
  givenUp: () => boolean,
  ask: () => Promise<T>,
  onLost: () => void,
): Promise<T> {
  for (let losses = 1;; losses++) {
    try {
      return await ask();
    } catch (error) {
      if (!store.isConnectionError(error)) throw error;
      onLost();
      if (givenUp() || losses === LOSSES) throw error;
      log.warn("the database does not answer, asking again: {error}", { error });
      await untilThere(store, givenUp);
    }
  }
}

/** Waits until the database answers anything at all. */
async function untilThere(store: JournalStore, givenUp: () => boolean): Promise<void> {
  do {
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    try {
      await store.readSettings();
      return;
    } catch (error) {
      if (!store.isConnectionError(error)) return;
    }
  } while (!givenUp());
}
