import { getLogger } from "@logtape/logtape";
import type { JournalStore } from "../../ledger/journal/store.ts";

const log = getLogger(["engine", "journal"]);

/** Pause before a lost database is asked again. */
const RETRY_MS = 100;

/**
 * Asks the database until it answers. For what decides nothing by itself, so that waiting loses
 * nothing; whoever waits for an answer is told by its own deadline.
 *
 * @param givenUp ends the waiting (the process is stopping)
 * @throws any error but a lost connection, and that one when given up
 */
export async function untilAnswered<T>(
  store: JournalStore,
  givenUp: () => boolean,
  ask: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!store.isConnectionError(error) || givenUp()) throw error;
      log.warn("the database does not answer, asking again: {error}", { error });
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}
