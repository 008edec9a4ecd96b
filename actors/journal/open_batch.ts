/**
 * From the items of mailboxes to messages that are decided: wake-ups are replaced by the rows that the
 * inbox holds for their merchants. And the records that the messages of a batch speak of.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import { verdictId } from "../../ledger/ingested.ts";
import type { Quarantining } from "../../ledger/journal/quarantine_rows.ts";
import type { InboxRow } from "../../ledger/journal/read_inbox.ts";
import type { RecordNeeds } from "../../ledger/journal/record_needs.ts";
import type { JournalStore } from "../../ledger/journal/store.ts";
import { chainEventOf } from "../merchant/chain_events.ts";
import type { MerchantMessage } from "../merchant/decision.ts";
import { CLAIM } from "../merchant/state.ts";
import type { JournalContext } from "./context.ts";
import type { DoubtfulMerchants, PausedMerchants } from "./merchant_standing.ts";
import type { Batch, QueuedMessage, Taken } from "./queue.ts";

/** Time for which inboxes are read merchant by merchant within one batch, milliseconds. */
const APART_MS = 3_000;

/** The part of a journal's context that batches are opened with. */
export type Opening =
  & Pick<JournalContext, "limit" | "now" | "monotonic" | "usdRate" | "retry" | "wake">
  & Pick<JournalContext, "quarantineRows">
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
  const unreadable: Quarantining[] = [];
  for (const row of rows) {
    counts.set(row.merchantId, (counts.get(row.merchantId) ?? 0) + 1);
    try {
      const message = chainEventOf(row, at, opening.usdRate);
      batch.get(row.merchantId)?.push({ kind: "event", message });
    } catch (error) {
      logEvent("journal.row_unreadable", {
        txid: row.txid,
        error,
      });
      unreadable.push({ key: row, reason: `unreadable: ${error}` });
    }
  }
  await opening.quarantineRows(unreadable);
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
    logEvent("journal.inboxes_unread", {
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
      logEvent("journal.inbox_unread", { merchantId, error });
      const costMs = opening.monotonic() - since;
      doubts.failed(costMs);
      // the database is slow for all: tried one by one, they would keep all merchants for as many statements
      if (doubts.isStalled) break;
      paused.pause(merchantId, costMs);
    }
  }
  return rows;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer R)[] ? R[] : never };

/** Which records the messages of a batch speak of, so that they are read with one query each. */
export function recordNeeds(
  messages: Iterable<{ readonly merchantId: string; readonly message: MerchantMessage }>,
): RecordNeeds {
  const needs: Mutable<RecordNeeds> = {
    withdrawals: [],
    references: [],
    deposits: [],
    transfers: [],
    claims: [],
    addressIds: [],
    addresses: [],
    identifiers: [],
    topUps: [],
    settlements: [],
    settlementKeys: [],
    settlementAddresses: [],
    destinations: [],
    whitelists: [],
    ingested: [],
    payments: [],
  };
  for (const { merchantId, message } of messages) add(needs, merchantId, message);
  return needs;
}

function add(needs: Mutable<RecordNeeds>, merchantId: string, message: MerchantMessage): void {
  switch (message.type) {
    case "update-profile":
    case "margin":
      return;
    case "reserve":
      return addReference(needs, merchantId, message.referenceId);
    case "approve-withdrawal":
    case "decline-withdrawal":
      return addWithdrawal(needs, merchantId, { ...message, settlementId: null });
    case "outcome":
    case "submitted":
    case "approve-settlement":
    case "decline-settlement":
      return addWithdrawal(needs, merchantId, message);
    case "create-settlement": {
      const { idempotencyKey: key, network, destination: address } = message;
      needs.destinations.push({ merchantId, network, address });
      if (key !== null) needs.settlementKeys.push({ merchantId, key });
      return;
    }
    case "add-settlement-address": {
      const { network, address } = message;
      needs.destinations.push({ merchantId, network, address });
      needs.whitelists.push(merchantId);
      return;
    }
    case "remove-settlement-address":
    case "activate-settlement-address":
      needs.settlementAddresses.push({ merchantId, id: message.addressId });
      return;
    case "create-deposit": {
      const { network, txid, depositAddressId: id } = message;
      if (txid !== null) needs.claims.push({ merchantId, network, txid });
      if (id !== null) needs.addressIds.push({ merchantId, id });
      return;
    }
    case "decide-deposit":
      needs.deposits.push({ merchantId, id: message.depositId });
      if (message.ingestion !== null) needs.ingested.push(message.ingestion.eventId);
      return;
    case "book-payout":
      addWithdrawal(needs, merchantId, { ...message, settlementId: null });
      addReference(needs, merchantId, message.referenceId);
      needs.ingested.push(message.ingestion.eventId);
      needs.payments.push({ network: message.network, txid: message.paidBy.txid });
      return;
    case "ingest-withdrawal":
    case "settle-withdrawal": {
      const { network, paidBy } = message;
      addWithdrawal(needs, merchantId, message);
      needs.ingested.push(
        message.type === "ingest-withdrawal"
          ? message.ingestion.eventId
          : verdictId(message.withdrawalId),
      );
      if (paidBy !== null) needs.payments.push({ network, txid: paidBy.txid });
      return;
    }
    case "issue-address": {
      const { network, identifier, kind } = message;
      if (kind === "top_up") needs.topUps.push({ merchantId, network });
      if (kind !== "issued" || identifier === null) return;
      needs.identifiers.push({ merchantId, network, identifier });
      return;
    }
    case "transfer":
    case "vanished":
    case "swept": {
      const { network, txid, logIndex } = message.key;
      needs.transfers.push({ merchantId, network, txid, logIndex });
      needs.addresses.push({ merchantId, network, address: message.to });
      if (message.type !== "transfer") return;
      // a deposit booked by hand may have claimed the whole transaction
      needs.transfers.push({ merchantId, network, txid, logIndex: CLAIM });
      return;
    }
    default: {
      const never: never = message;
      return never;
    }
  }
}

function addReference(
  needs: Mutable<RecordNeeds>,
  merchantId: string,
  referenceId: string | null,
): void {
  if (referenceId !== null) needs.references.push({ merchantId, referenceId });
}

/** A withdrawal, with the settlement that it carries out. */
function addWithdrawal(
  { withdrawals, settlements }: Mutable<RecordNeeds>,
  merchantId: string,
  payout: { readonly withdrawalId: string; readonly settlementId: string | null },
): void {
  withdrawals.push({ merchantId, id: payout.withdrawalId });
  if (payout.settlementId !== null) settlements.push({ merchantId, id: payout.settlementId });
}
