/**
 * Finds the fate of a commit whose answer was lost. The database is asked at once; for merchants whose
 * account is locked just then (by that very write, or by another session) it is asked again later,
 * beside the journal's loop: they are paused meanwhile, and no other merchant waits for them.
 *
 * @module
 */

import { delay } from "../../ledger/database/delay.ts";
import { logEvent } from "../../log/log_event.ts";
import type { JournalContext } from "./context.ts";

/** First and longest pause before a locked account is asked about again, milliseconds. */
const FIRST_MS = 20;
const LONGEST_MS = 2_000;

/** A commit whose answer was lost. */
export interface LostCommit {
  readonly commitId: string;
  readonly merchantIds: readonly string[];
  /** Called with merchants whose part was committed. */
  readonly onHappened: (merchantIds: ReadonlySet<string>) => void;
  /** Called once for each that was not certain at once, when it is; after `onHappened`. */
  readonly onResolvedLate: (merchantId: string, hasHappened: boolean) => void;
}

/** The part of a lost commit's fate that is certain, and the merchants for whom it is not. */
interface Fate {
  readonly happened: ReadonlySet<string>;
  readonly waiting: ReadonlySet<string>;
}

/** @returns the merchants that are not to be decided again: committed, or not certain yet */
export async function resolveLost(
  context: JournalContext,
  lost: LostCommit,
): Promise<ReadonlySet<string>> {
  const { happened, waiting } = await resolveNow(context, lost);
  lost.onHappened(happened);
  for (const merchantId of waiting) context.paused.pauseUntilResumed(merchantId);
  // nothing in it throws: an error of the database is asked again, and the rest only moves messages
  if (waiting.size > 0) void resolveLate(context, lost, waiting);
  return new Set([...happened, ...waiting]);
}

async function resolveOnce(
  { store }: JournalContext,
  { commitId }: LostCommit,
  merchantIds: readonly string[],
): Promise<Fate> {
  const { survivors, waiting } = await store.resolveCommit(commitId, merchantIds);
  return { happened: survivors ?? new Set(), waiting };
}

async function resolveNow(context: JournalContext, lost: LostCommit): Promise<Fate> {
  try {
    return await context.retry(() => resolveOnce(context, lost, lost.merchantIds));
  } catch (error) {
    if (context.isStopping) throw error;
    logEvent("journal.commit_unknown", { error });
    return { happened: new Set(), waiting: new Set(lost.merchantIds) };
  }
}

/** Asks again until it is certain for all of the merchants, one after the other as soon as it is. */
async function resolveLate(
  context: JournalContext,
  lost: LostCommit,
  merchantIds: Iterable<string>,
): Promise<void> {
  let left = [...merchantIds];
  for (let pause = FIRST_MS; left.length > 0; pause = Math.min(pause * 2, LONGEST_MS)) {
    await delay(pause);
    if (context.isStopping) return;
    try {
      const { happened, waiting } = await resolveOnce(context, lost, left);
      for (const merchantId of left.filter((one) => !waiting.has(one))) {
        if (happened.has(merchantId)) lost.onHappened(new Set([merchantId]));
        lost.onResolvedLate(merchantId, happened.has(merchantId));
      }
      left = left.filter((merchantId) => waiting.has(merchantId));
    } catch (error) {
      logEvent("journal.commit_asked_again", {
        error,
      });
    }
  }
}
