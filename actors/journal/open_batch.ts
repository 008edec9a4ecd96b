/**
 * From what the mailboxes held to what is decided: wake-ups are replaced by the rows that the inbox
 * holds for their merchants.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { InboxRow } from "../../ledger/journal/read_inbox.ts";
import type { JournalStore } from "../../ledger/journal/store.ts";
import type { Currency } from "../../ledger/money/pair.ts";
import type { Batch } from "./decide_batch.ts";
import type { DoubtfulMerchants } from "./merchant_standing.ts";
import { chainEventOf } from "../merchant/chain_events.ts";
import type { QueuedMessage, Taken } from "./queue.ts";

const log = getLogger(["engine", "journal"]);

/** Time for which inboxes are read merchant by merchant within one batch, milliseconds. */
const APART_MS = 3_000;

/** Dependencies of opening a batch. */
export interface Opening {
  readonly store: Pick<JournalStore, "readInbox" | "isConnectionError">;
  readonly doubts: Pick<DoubtfulMerchants, "failed" | "answered" | "isStalled">;
  /** The most rows of the inbox that one batch takes on. */
  readonly limit: number;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly monotonic: () => number;
  /** US dollars per unit of a currency. */
  readonly usdRate: (currency: Currency) => string;
  /** Asks the database again until it answers. */
  readonly retry: <T>(ask: () => Promise<T>) => Promise<T>;
  /** A merchant's inbox still has rows. */
  readonly wake: (merchantId: string) => void;
  /** Pauses a merchant whose inbox cannot be read; the longer others were kept, the longer. */
  readonly pause: (merchantId: string, costMs: number) => void;
  /** Quarantines an unreadable row. */
  readonly quarantine: (row: InboxRow, reason: string) => Promise<void>;
}

/** The messages to decide, commands before chain events. */
export async function openBatch(opening: Opening, taken: Taken): Promise<Batch> {
  const batch: Map<string, QueuedMessage[]> = new Map();
  const woken: string[] = [];
  for (const [merchantId, items] of taken) {
    batch.set(merchantId, items.filter((item) => item.kind === "command"));
    if (items.some((item) => item.kind === "wake")) woken.push(merchantId);
  }
  if (woken.length > 0) await addEvents(opening, woken, batch);
  for (const [merchantId, messages] of batch) if (messages.length === 0) batch.delete(merchantId);
  return batch;
}

async function addEvents(
  opening: Opening,
  woken: readonly string[],
  batch: ReadonlyMap<string, QueuedMessage[]>,
): Promise<void> {
  // shared out, so that a merchant with thousands of rows delays no other's
  const share = Math.max(Math.floor(opening.limit / woken.length), 1);
  const rows = await readRows(opening, woken, share);
  const at = opening.now();
  const counts = new Map<string, number>();
  for (const row of rows) {
    counts.set(row.merchantId, (counts.get(row.merchantId) ?? 0) + 1);
    try {
      const message = chainEventOf(row, at, opening.usdRate);
      batch.get(row.merchantId)?.push({ kind: "event", message });
    } catch (error) {
      log.error("an inbox row cannot be read and is quarantined: {txid}: {error}", {
        txid: row.txid,
        error,
      });
      await opening.quarantine(row, `unreadable: ${error}`);
    }
  }
  // there may be more than this batch takes on
  for (const [merchantId, count] of counts) if (count === share) opening.wake(merchantId);
}

/**
 * Rows of all of them in one statement; where it fails, merchant by merchant, for as long as others may
 * wait for that. The rest is left to a later batch.
 */
async function readRows(
  { store, doubts, retry, pause, wake, monotonic }: Opening,
  woken: readonly string[],
  share: number,
): Promise<readonly InboxRow[]> {
  const sharedSince = monotonic();
  try {
    return await retry(() => store.readInbox(woken, share));
  } catch (error) {
    if (store.isConnectionError(error)) throw error;
    doubts.failed(monotonic() - sharedSince);
    log.error("the inboxes of {count} merchants cannot be read, trying them apart: {error}", {
      count: woken.length,
      error,
    });
  }
  const rows: InboxRow[] = [];
  const end = monotonic() + APART_MS;
  for (const [n, merchantId] of woken.entries()) {
    const since = monotonic();
    if (since > end) {
      for (const later of woken.slice(n)) wake(later);
      break;
    }
    try {
      rows.push(...await retry(() => store.readInbox([merchantId], share)));
      doubts.answered();
    } catch (error) {
      if (store.isConnectionError(error)) throw error;
      // its rows are still there, and found again by the next poll
      log.error("the inbox of {merchantId} cannot be read: {error}", { merchantId, error });
      const costMs = monotonic() - since;
      doubts.failed(costMs);
      // the database is slow for all: tried one by one, they would keep all merchants for as many statements
      if (doubts.isStalled) break;
      pause(merchantId, costMs);
    }
  }
  return rows;
}
