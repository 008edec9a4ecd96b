/**
 * The mailboxes of all merchant actors of a slot group, and whose turn it is: fair between
 * merchants, first in first out within one.
 *
 * @module
 */

import type { Answer } from "../merchant/decision.ts";
import type { ChainEvent } from "../merchant/chain_events.ts";
import type { AskOutcome, MerchantCommand } from "../merchant/merchants.ts";
import type { Refusal } from "../merchant/refusal.ts";

let turns = 0;

/** A command whose sender waits. */
export class QueuedCommand {
  readonly kind = "command";
  /** Orders commands as they came. */
  readonly turn = ++turns;
  /** True once it was decided and its durability is being found out. */
  decided = false;
  #answer: ((outcome: AskOutcome<Answer, Refusal>) => void) | null;

  /**
   * @param deadline when the sender stops waiting, in milliseconds of the journal's monotonic clock
   * @param answer called exactly once
   */
  constructor(
    readonly message: MerchantCommand,
    readonly deadline: number,
    answer: (outcome: AskOutcome<Answer, Refusal>) => void,
  ) {
    this.#answer = answer;
  }

  /** True once the sender has its answer. Such a message is not decided (again). */
  get isAnswered(): boolean {
    return this.#answer === null;
  }

  /** Answers the sender; later calls change nothing. */
  answer(outcome: AskOutcome<Answer, Refusal>): void {
    const answer = this.#answer;
    this.#answer = null;
    answer?.(outcome);
  }

  /** Answers a sender whose time is over with what is known. */
  expire(): void {
    this.answer({ kind: this.decided ? "unknown" : "withdrawn" });
  }
}

/** A chain event; its row stays in the inbox until it is consumed. */
export interface QueuedEvent {
  readonly kind: "event";
  readonly message: ChainEvent;
}

/** A merchant's inbox has rows. */
interface WakeUp {
  readonly kind: "wake";
}

/** An item of a merchant's mailbox. */
export type MailboxItem = QueuedCommand | WakeUp;

/** A message to decide: a wake-up has been replaced by the events it announced. */
export type QueuedMessage = QueuedCommand | QueuedEvent;

/** Messages to decide, in order, per merchant. */
export type Batch = ReadonlyMap<string, readonly QueuedMessage[]>;

/** The messages whose senders still wait; they may be decided again. */
export function unanswered(batch: Batch): Batch {
  const left = new Map<string, readonly QueuedMessage[]>();
  for (const [merchantId, messages] of batch) {
    const open = messages.filter((queued) => queued.kind === "event" || !queued.isAnswered);
    // a sender whose time ends from here on is answered that nothing happened, which is so
    for (const queued of open) if (queued.kind === "command") queued.decided = false;
    if (open.length > 0) left.set(merchantId, open);
  }
  return left;
}

/** Refuses commands: nothing happened of them, and none is to blame. */
export function refuseOverloaded(batch: Batch): void {
  for (const queued of [...batch.values()].flat()) {
    // an event's row is still there, and found again by the next poll
    if (queued.kind === "command") queued.answer({ kind: "overloaded" });
  }
}

/** Items that one batch takes of the mailboxes, in order, per merchant. */
export type Taken = Map<string, MailboxItem[]>;

/**
 * The way in which a merchant's messages are taken: with those of others, `alone` as one of them broke a batch,
 * or not at all while it is `paused`.
 */
export type Standing = "shared" | "alone" | "paused";

/** The most messages of a merchant that are taken alone: finding the broken one keeps others waiting. */
const ALONE_LIMIT = 32;

export class MerchantQueue {
  /** In the order of their turns. */
  readonly #mailboxes = new Map<string, QueuedCommand[]>();
  readonly #woken = new Set<string>();
  #commands = 0;
  #wasAlone = false;

  /**
   * @param capacity the most commands that wait in all mailboxes together
   * @param mailboxCapacity the most that wait in one
   */
  constructor(readonly capacity: number, readonly mailboxCapacity: number) {}

  /** Messages waiting. */
  get size(): number {
    return this.#commands + this.#woken.size;
  }

  /**
   * Puts a message into a merchant's mailbox; `false` when that is full. A mailbox may hold as many
   * commands as the whole queue has room left for: one merchant that floods its own gets half of the
   * queue, two get a third each, and there is room for all others at any time. Wake-ups say the
   * same however many there are, so they take no room and are never lost.
   */
  offer(merchantId: string, item: MailboxItem): boolean {
    if (item.kind === "wake") {
      this.#woken.add(merchantId);
      this.#mailbox(merchantId);
      return true;
    }
    const waiting = this.#mailboxes.get(merchantId)?.length ?? 0;
    if (waiting >= Math.min(this.mailboxCapacity, this.capacity - this.#commands)) return false;
    this.#mailbox(merchantId).push(item);
    this.#commands++;
    return true;
  }

  /** Gives commands back that could not be decided on; they keep their places among those that wait. */
  putBack(merchantId: string, items: readonly QueuedCommand[]): void {
    if (items.length === 0) return;
    const mailbox = this.#mailbox(merchantId);
    mailbox.push(...items);
    mailbox.sort((a, b) => a.turn - b.turn);
    this.#commands += items.length;
  }

  /**
   * Takes the next messages. Merchants whose turn it is share a batch evenly, and what is left of it
   * goes to those with more. Batches of one merchant alone take turns with shared ones.
   *
   * @param limit the most messages in all
   * @returns nothing when all that waits is paused
   */
  take(limit: number, standing: (merchantId: string) => Standing): Taken {
    const shared: string[] = [];
    let alone: string | null = null;
    let isAloneFirst = false;
    for (const merchantId of this.#mailboxes.keys()) {
      if (shared.length === limit) break;
      const how = standing(merchantId);
      if (how === "shared") shared.push(merchantId);
      else if (how === "alone" && alone === null) {
        alone = merchantId;
        isAloneFirst = shared.length === 0;
      }
    }
    const takesAlone = alone !== null && (shared.length === 0 || (isAloneFirst && !this.#wasAlone));
    this.#wasAlone = takesAlone;
    const taken: Taken = new Map();
    if (alone !== null && takesAlone) this.#share(taken, [alone], Math.min(limit, ALONE_LIMIT));
    else this.#share(taken, shared, limit);
    for (const merchantId of taken.keys()) this.#toTheEnd(merchantId);
    return taken;
  }

  #share(taken: Taken, merchantIds: readonly string[], limit: number): void {
    let left = limit;
    let waiting = merchantIds;
    while (left > 0 && waiting.length > 0) {
      const share = Math.max(Math.floor(left / waiting.length), 1);
      const withMore: string[] = [];
      for (const merchantId of waiting) {
        const items = taken.get(merchantId) ?? [];
        const before = items.length;
        this.#takeOf(merchantId, Math.min(share, left), items);
        left -= items.length - before;
        if (items.length > 0) taken.set(merchantId, items);
        if (this.#hasMore(merchantId)) withMore.push(merchantId);
      }
      waiting = withMore;
    }
  }

  #takeOf(merchantId: string, count: number, into: MailboxItem[]): void {
    const mailbox = this.#mailboxes.get(merchantId);
    let left = count;
    if (left > 0 && this.#woken.delete(merchantId)) {
      into.push({ kind: "wake" });
      left--;
    }
    for (; left > 0; left--) {
      const item = mailbox?.shift();
      if (item === undefined) return;
      into.push(item);
      this.#commands--;
    }
  }

  #hasMore(merchantId: string): boolean {
    return this.#woken.has(merchantId) || (this.#mailboxes.get(merchantId)?.length ?? 0) > 0;
  }

  /** Has a merchant wait for its next turn; forgets its mailbox when nothing waits. */
  #toTheEnd(merchantId: string): void {
    const mailbox = this.#mailboxes.get(merchantId);
    this.#mailboxes.delete(merchantId);
    if (mailbox === undefined || (mailbox.length === 0 && !this.#woken.has(merchantId))) return;
    this.#mailboxes.set(merchantId, mailbox);
  }

  #mailbox(merchantId: string): QueuedCommand[] {
    let mailbox = this.#mailboxes.get(merchantId);
    if (mailbox === undefined) this.#mailboxes.set(merchantId, mailbox = []);
    return mailbox;
  }
}
