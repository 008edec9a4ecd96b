/**
 * Deciding the messages of a batch: what they speak of is read once for all of them, then each
 * merchant's are decided in order.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { Settings } from "../../ledger/settings.ts";
import type { Quarantining } from "../../ledger/journal/quarantine_rows.ts";
import type { JournalStore } from "../../ledger/journal/store.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { decide } from "../merchant/decide.ts";
import type { Answer, Decision, MerchantMessage } from "../merchant/decision.ts";
import type { AskOutcome } from "../merchant/merchants.ts";
import type { Refusal } from "../merchant/refusal.ts";
import {
  type Liquidity,
  type MerchantState,
  Records,
  RemainingLiquidity,
  type Reservation,
} from "../merchant/state.ts";
import type { Batch, QueuedMessage } from "./queue.ts";
import type { ActiveMerchants, Committed, PendingDeposit } from "./context.ts";
import type { ReferencesFirst } from "./merchant_standing.ts";
import { recordNeeds } from "./open_batch.ts";
import { type PaymentMove, paymentMoves } from "./payment_moves.ts";
import { UnitOfWork } from "./unit_of_work.ts";

/** One merchant's part of a batch, decided. */
export interface MerchantBatch {
  readonly merchantId: string;
  readonly unit: UnitOfWork;
  readonly messages: readonly DecidedMessage[];
  /** Rows of chain events to be quarantined. */
  readonly quarantined: readonly Quarantining[];
  /** True where it is to be decided again with the references at hand that its payouts want. */
  readonly isUnread: boolean;
}

/** A message with the answer that its sender gets once the batch is durable. */
export interface DecidedMessage {
  readonly queued: QueuedMessage;
  readonly outcome: AskOutcome<Answer, Refusal>;
  /** Networks of queued and of unapproved payouts that it gives up unpaid, which waits while signing is stopped. */
  readonly refunds: readonly Network[];
}

export interface Deciding {
  readonly store: Pick<JournalStore, "readAccounts" | "readRecords">;
  readonly active: ActiveMerchants;
  readonly liquidity: Liquidity;
  readonly referencesFirst: Pick<ReferencesFirst, "has" | "add">;
  /** Asks the database again until it answers. */
  retry<T>(ask: () => Promise<T>): Promise<T>;
}

/**
 * Decides a batch: reads what its messages speak of, then every merchant's in order. Of merchants who ask
 * for nothing but payouts nothing is read: the write looks their references up, and misses who wants a
 * taken one. A batch of payouts so needs one round trip.
 */
export async function decideBatch(
  deciding: Deciding,
  batch: Batch,
  settings: Settings,
): Promise<readonly MerchantBatch[]> {
  const states = await openMerchants(deciding, [...batch.keys()]);
  const unread = leftToTheWrite(deciding, batch);
  const messages = [...batch].flatMap(([merchantId, all]) =>
    unread.has(merchantId) ? [] : all.map(({ message }) => ({ merchantId, message }))
  );
  const read = await deciding.retry(() => deciding.store.readRecords(recordNeeds(messages)));
  const recordsOf = Records.perMerchant(read);
  const shared = new RemainingLiquidity(deciding.liquidity);
  const decided: MerchantBatch[] = [];
  for (const [merchantId, all] of batch) {
    const state = states.get(merchantId);
    if (state === undefined) {
      logEvent("journal.merchant_unknown", { merchantId });
      for (const queued of all) if (queued.kind === "command") queued.answer({ kind: "failed" });
      continue;
    }
    const own = new RemainingLiquidity((network, currency) => shared.left(network, currency));
    const records = recordsOf(merchantId);
    records.hasReferences = !unread.has(merchantId);
    const unit = new UnitOfWork(state, records, own);
    const part = decideMerchant(merchantId, unit, settings, all);
    if (unit.isDirty) shared.reserve(unit.reservations);
    for (const { queued } of part.messages) if (queued.kind === "command") queued.decided = true;
    decided.push(part);
  }
  const again = decided.filter(({ isUnread }) => isUnread);
  if (again.length === 0) return decided;
  for (const { merchantId } of again) deciding.referencesFirst.add(merchantId);
  return await decideBatch(deciding, batch, settings);
}

/**
 * Merchants whose references are looked up by the write: they ask for payouts alone, so that nothing in the
 * batch frees a reference, and nothing but the reference has to be read for them.
 */
function leftToTheWrite(
  { referencesFirst }: Pick<Deciding, "referencesFirst">,
  batch: Batch,
): ReadonlySet<string> {
  const left = new Set<string>();
  for (const [merchantId, messages] of batch) {
    if (referencesFirst.has(merchantId)) continue;
    if (messages.every(({ message }) => isOrdinaryPayout(message))) left.add(merchantId);
  }
  return left;
}

/** True for a payout that is queued as it begins: one row of it is sent, by which the write looks. */
function isOrdinaryPayout(message: MerchantMessage): boolean {
  return message.type === "reserve" && message.pinnedTo === null && message.giveUp === null;
}

/**
 * The merchants of a batch. Kept apart from those in memory: taking one in may drop another that
 * the same batch speaks of.
 */
async function openMerchants(
  deciding: Deciding,
  merchantIds: readonly string[],
): Promise<ReadonlyMap<string, MerchantState>> {
  const { store, active } = deciding;
  const states = new Map<string, MerchantState>();
  const cold: string[] = [];
  for (const merchantId of merchantIds) {
    const state = active.get(merchantId);
    if (state === undefined) cold.push(merchantId);
    else states.set(merchantId, state);
  }
  if (cold.length === 0) return states;
  for (const [merchantId, state] of await deciding.retry(() => store.readAccounts(cold))) {
    active.put(merchantId, state);
    states.set(merchantId, state);
  }
  return states;
}

/**
 * Decides a merchant's messages in order. A message that breaks an assumption is taken out alone;
 * it cannot have changed anything, because a decision is taken in whole or not at all.
 */
export function decideMerchant(
  merchantId: string,
  unit: UnitOfWork,
  settings: Settings,
  all: readonly QueuedMessage[],
): MerchantBatch {
  const messages: DecidedMessage[] = [];
  const quarantined: Quarantining[] = [];
  let isUnread = false;
  for (const queued of all) {
    if (queued.kind === "command" && queued.isAnswered) continue;
    let outcome: AskOutcome<Answer, Refusal>;
    let refunds: readonly Network[] = [];
    try {
      const result = decide(unit, settings, queued.message);
      if (result.kind === "decided") {
        unit.take(result.decision);
        refunds = refundsOf(result.decision);
        outcome = { kind: "done", value: result.answer };
      } else if (result.kind === "refused") {
        outcome = { kind: "refused", refusal: result.refusal };
      } else if (result.kind === "unread") {
        isUnread = true;
        continue;
      } else {
        if (queued.kind === "event") {
          quarantined.push({ key: queued.message.key, reason: result.reason });
        }
        continue;
      }
    } catch (error) {
      logEvent("journal.message_quarantined", {
        type: queued.message.type,
        merchantId,
        error,
      });
      if (queued.kind === "event") {
        quarantined.push({ key: queued.message.key, reason: `bug: ${error}` });
      }
      outcome = { kind: "failed" };
    }
    messages.push({ queued, outcome, refunds });
  }
  return { merchantId, unit, messages, quarantined, isUnread };
}

/**
 * The networks of the payouts that a decision takes out of the queue without their being paid, or turns down before they were
 * approved: where the database was set back, either may have been paid since.
 */
function refundsOf({ voided, withdrawals }: Decision): readonly Network[] {
  if (withdrawals.length === 0) return [];
  const queued = new Set(voided.filter((row) => row.fromStatus === "queued").map(({ id }) => id));
  return withdrawals
    .filter(({ outgoingId, status }) =>
      status === "CANCELLED" || queued.has(outgoingId) && status !== "CONFIRMED"
    )
    .map(({ network }) => network);
}

/** The wake-up of a commit; `null` when no other actor is concerned. */
export function committed(parts: readonly MerchantBatch[]): Committed | null {
  const events = new Set<string>();
  const reservations: Reservation[] = [];
  const pendingDeposits: PendingDeposit[] = [];
  const moves: PaymentMove[] = [];
  for (const { unit, merchantId } of parts) {
    if (!unit.isDirty) continue;
    moves.push(...paymentMoves(unit));
    const changes = unit.changes();
    if (changes.once.events.some((event) => event.status === "PENDING")) events.add(merchantId);
    reservations.push(...unit.reservations);
    for (const row of changes.created.deposits) {
      if (row.status === "PENDING" && row.expiresAt !== null) {
        pendingDeposits.push({ depositId: row.id, expiresAt: row.expiresAt });
      }
    }
  }
  const networks = new Set(reservations.map(({ network }) => network));
  if (events.size + networks.size + pendingDeposits.length + moves.length === 0) return null;
  return { events, networks, reservations, pendingDeposits, moves };
}
