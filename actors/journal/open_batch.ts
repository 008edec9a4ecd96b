/**
 * From what the mailboxes held to what is decided: wake-ups are replaced by the rows that the inbox
 * holds for their merchants.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { InboxRow } from "../../ledger/journal/read_inbox.ts";
import type { JournalStore } from "../../ledger/journal/store.ts";
import type { Batch } from "./decide_batch.ts";
import type { JournalContext } from "./context.ts";
import type { DoubtfulMerchants, PausedMerchants } from "./merchant_standing.ts";
import { chainEventOf } from "../merchant/chain_events.ts";
import type { QueuedMessage, Taken } from "./queue.ts";

const log = getLogger(["engine", "journal"]);

/** Time for which inboxes are read merchant by merchant within one batch, milliseconds. */
const APART_MS = 3_000;

/** The part of a journal's context that batches are opened with. */
export type Opening =
  & Pick<JournalContext, "limit" | "now" | "monotonic" | "usdRate" | "retry" | "wake">
  & Pick<JournalContext, "quarantineRow">
  & {
    readonly store: Pick<JournalStore, "readInbox" | "isConnectionError">;
    readonly doubts: Pick<DoubtfulMerchants, "failed" | "answered" | "isStalled">;
    readonly paused: Pick<PausedMerchants, "pause">;
  };

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
      await opening.quarantineRow(row, `unreadable: ${error}`);
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
  opening: Opening,
  woken: readonly string[],
  share: number,
): Promise<readonly InboxRow[]> {
  const { store, doubts, paused } = opening;
  const sharedSince = opening.monotonic();
  try {
    return await opening.retry(() => store.readInbox(woken, share));
  } catch (error) {
    if (store.isConnectionError(error)) throw error;
    doubts.failed(opening.monotonic() - sharedSince);
    log.error("the inboxes of {count} merchants cannot be read, trying them apart: {error}", {
      count: woken.length,
      error,
    });
  }
  const rows: InboxRow[] = [];
  const end = opening.monotonic() + APART_MS;
  for (const [n, merchantId] of woken.entries()) {
    const since = opening.monotonic();
    if (since > end) {
      for (const later of woken.slice(n)) opening.wake(later);
      break;
    }
    try {
      rows.push(...await opening.retry(() => store.readInbox([merchantId], share)));
      doubts.answered();
    } catch (error) {
      if (store.isConnectionError(error)) throw error;
      // its rows are still there, and found again by the next poll
      log.error("the inbox of {merchantId} cannot be read: {error}", { merchantId, error });
      const costMs = opening.monotonic() - since;
      doubts.failed(costMs);
      // the database is slow for all: tried one by one, they would keep all merchants for as many statements
      if (doubts.isStalled) break;
      paused.pause(merchantId, costMs);
    }
  }
  return rows;
}
