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
import type { Work } from "./decide_batch.ts";
import type { DoubtfulMerchants } from "./doubtful_merchants.ts";
import type { Decidable } from "./envelope.ts";
import { factOf } from "../merchant/facts.ts";
import type { Taken } from "./queue.ts";

const log = getLogger(["engine", "journal"]);

/** How long inboxes are read merchant by merchant within one batch, milliseconds. */
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
  /** Asks the database until it answers. */
  readonly untilAnswered: <T>(ask: () => Promise<T>) => Promise<T>;
  /** Says that a merchant's inbox still has rows. */
  readonly wake: (merchantId: string) => void;
  /** Told of a merchant whose inbox cannot be read; the longer others were kept, the longer it rests. */
  readonly rest: (merchantId: string, costMs: number) => void;
  /** Sets a row aside that says nothing readable. */
  readonly setAside: (row: InboxRow, reason: string) => Promise<void>;
}

/** The messages to decide, commands before what the chain said. */
export async function openWork(opening: Opening, taken: Taken): Promise<Work> {
  const work: Map<string, Decidable[]> = new Map();
  const woken: string[] = [];
  for (const [merchantId, envelopes] of taken) {
    work.set(merchantId, envelopes.filter((envelope) => envelope.kind === "command"));
    if (envelopes.some((envelope) => envelope.kind === "wake")) woken.push(merchantId);
  }
  if (woken.length > 0) await addFacts(opening, woken, work);
  for (const [merchantId, messages] of work) if (messages.length === 0) work.delete(merchantId);
  return work;
}

async function addFacts(
  opening: Opening,
  woken: readonly string[],
  work: ReadonlyMap<string, Decidable[]>,
): Promise<void> {
  // shared out, so that a merchant with thousands of rows delays nobody else's
  const share = Math.max(Math.floor(opening.limit / woken.length), 1);
  const rows = await readRows(opening, woken, share);
  const at = opening.now();
  const counts = new Map<string, number>();
  for (const row of rows) {
    counts.set(row.merchantId, (counts.get(row.merchantId) ?? 0) + 1);
    try {
      const message = factOf(row, at, opening.usdRate);
      work.get(row.merchantId)?.push({ kind: "fact", message });
    } catch (error) {
      log.error("an inbox row cannot be read and is set aside: {txid}: {error}", {
        txid: row.txid,
        error,
      });
      await opening.setAside(row, `unreadable: ${error}`);
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
  { store, doubts, untilAnswered, rest, wake, monotonic }: Opening,
  woken: readonly string[],
  share: number,
): Promise<readonly InboxRow[]> {
  const sharedSince = monotonic();
  try {
    return await untilAnswered(() => store.readInbox(woken, share));
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
      rows.push(...await untilAnswered(() => store.readInbox([merchantId], share)));
      doubts.answered();
    } catch (error) {
      if (store.isConnectionError(error)) throw error;
      // its rows are still there, and found again by the sweep
      log.error("the inbox of {merchantId} cannot be read: {error}", { merchantId, error });
      const costMs = monotonic() - since;
      doubts.failed(costMs);
      // the database is slow for all: tried one by one, they would keep everybody for as many statements
      if (doubts.isStalled) break;
      rest(merchantId, costMs);
    }
  }
  return rows;
}
