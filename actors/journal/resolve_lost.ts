/**
 * Finds the fate of a commit whose answer was lost. The database is asked at once; for merchants whose
 * account is locked just then (by that very write, or by another session) it is asked again later,
 * beside the journal's loop: they are held meanwhile, and nobody else waits for them.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { JournalStore } from "../../ledger/journal/store.ts";

const log = getLogger(["engine", "journal"]);

/** First and longest pause before a locked account is asked about again, milliseconds. */
const FIRST_MS = 20;
const LONGEST_MS = 2_000;

/** The part of a lost commit's fate that is certain. */
export interface Resolved {
  /** Merchants whose slices were committed. */
  readonly happened: ReadonlySet<string>;
  /** Merchants for whom it is not certain yet. */
  readonly waiting: ReadonlySet<string>;
}

/** Asks once. */
export async function resolveOnce(
  store: Pick<JournalStore, "resolveCommit">,
  commitId: string,
  merchantIds: readonly string[],
): Promise<Resolved> {
  const { survivors, waiting } = await store.resolveCommit(commitId, merchantIds);
  return { happened: survivors ?? new Set(), waiting };
}

/**
 * Asks again until it is certain for all of the merchants, telling of each as soon as it is.
 *
 * @param givenUp ends the asking (the process is stopping): senders are told that it is unknown
 * @param tell told of every merchant once, with whether its slice was committed
 */
export async function resolveApart(
  store: JournalStore,
  commitId: string,
  merchantIds: Iterable<string>,
  givenUp: () => boolean,
  tell: (merchantId: string, happened: boolean) => void,
): Promise<void> {
  let left = [...merchantIds];
  for (let pause = FIRST_MS; left.length > 0; pause = Math.min(pause * 2, LONGEST_MS)) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (givenUp()) return;
    try {
      const { happened, waiting } = await resolveOnce(store, commitId, left);
      for (const merchantId of left) {
        if (!waiting.has(merchantId)) tell(merchantId, happened.has(merchantId));
      }
      left = left.filter((merchantId) => waiting.has(merchantId));
    } catch (error) {
      log.warn("it cannot be found out yet what became of a commit, asking again: {error}", {
        error,
      });
    }
  }
}
