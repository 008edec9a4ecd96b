/**
 * The loop that makes money durable for all merchant actors of a slot group, one batch at a time:
 * take, read, decide, write, apply and reply. Nothing is decided ahead, so nothing has to be
 * undone; replies, refusals too, leave only after the commit they rest on.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { InboxKey } from "../../ledger/rows.ts";
import type { Settings } from "../../ledger/settings.ts";
import type { Answers, AskOutcome, MerchantCommand, Merchants } from "../merchant/merchants.ts";
import type { Refusal } from "../merchant/refusal.ts";
import { BatchProcessor } from "./batch_processor.ts";
import { JournalContext, type JournalOptions } from "./context.ts";
import { within } from "../runtime/within.ts";
import { openBatch } from "./open_batch.ts";
import { QueuedCommand, type Taken } from "./queue.ts";
import { ShortCounts } from "./short_counts.ts";

/** Pause between two checks of deadlines, and of paused merchants while nothing else waits. */
const TICK_MS = 50;

/** Figures for metrics. */
interface JournalFigures {
  /** Batches committed so far. */
  readonly batches: number;
  /** Messages answered so far. */
  readonly messages: number;
  /** Messages in mailboxes. */
  readonly waiting: number;
  /** Merchants in memory. */
  readonly active: number;
  /** Merchants that wait for a row which another transaction holds, if only for a moment. */
  readonly paused: number;
  /** Those of them that have waited for longer than any commit takes. */
  readonly suspended: number;
  /** Messages quarantined so far. */
  readonly quarantined: number;
  /** Batches given up so far: their senders were answered that nothing happened, or that it is unknown. */
  readonly givenUp: number;
}

export class Journal implements Merchants {
  readonly refusedShort = new ShortCounts();
  readonly #context: JournalContext;
  readonly #processor: BatchProcessor;
  readonly #waiting = new Set<QueuedCommand>();
  /** Ends the loop's pause while all that waits is paused. */
  #endPause: (() => void) | null = null;
  #givenUpAt: number | null = null;
  #running: Promise<void> | null = null;
  /** Answers that may leave and are about to. */
  #answers: (() => void)[] = [];
  #batchSince: number | null = null;
  /** The row of a claimed transfer that the last look ended at; null: the next one begins anew. */
  #claimsLookedAt: InboxKey | null = null;
  #ticker: ReturnType<typeof setInterval>;

  constructor(options: JournalOptions) {
    this.#context = new JournalContext(options, () => this.#pump());
    this.#processor = new BatchProcessor(this.#context);
    this.#ticker = setInterval(() => this.#expire(), TICK_MS);
  }

  get figures(): JournalFigures {
    const { counts, queue, active, paused } = this.#context;
    return {
      ...counts,
      waiting: queue.size,
      active: active.size,
      paused: paused.size,
      suspended: paused.suspended,
    };
  }

  /** Milliseconds since a batch was last given up; null: none was. */
  get givenUpMs(): number | null {
    return this.#givenUpAt === null ? null : this.#context.monotonic() - this.#givenUpAt;
  }

  /** Milliseconds since a row that all audited commands need was last found locked. */
  get auditLockedMs(): number {
    return this.#context.audit.lockedMs;
  }

  /** Milliseconds for which the batch at hand has been under way; zero while there is none. */
  get busyMs(): number {
    return this.#batchSince === null ? 0 : this.#context.monotonic() - this.#batchSince;
  }

  ask<C extends MerchantCommand>(
    merchantId: string,
    command: C,
    timeoutMs: number,
  ): Promise<AskOutcome<Answers[C["type"]], Refusal>> {
    return new Promise((resolve) => {
      const deadline = this.#context.monotonic() + timeoutMs;
      const queued = new QueuedCommand(command, deadline, (outcome) => {
        this.#waiting.delete(queued);
        this.refusedShort.note(command, outcome);
        // the answer's type follows from the command's: decide() switches on the same tag
        this.#answer(() => resolve(outcome as AskOutcome<Answers[C["type"]], Refusal>));
      });
      if (this.#context.isClosed || !this.#context.queue.offer(merchantId, queued)) {
        queued.answer({ kind: "overloaded" });
        return;
      }
      this.#waiting.add(queued);
      this.#pump();
    });
  }

  /** Has a merchant's inbox read: it has rows. */
  wake(merchantId: string): void {
    this.#context.wake(merchantId);
  }

  /**
   * Wakes every merchant that has rows waiting; at start and from time to time.
   *
   * @throws also when only giving back what waited for a decision or its pair has failed: all were woken then
   */
  async wakeAll(): Promise<void> {
    const { store } = this.#context;
    try {
      const released = await Promise.allSettled([this.#releaseClaimed(), store.releaseUnclaimed()]);
      for (const merchantId of await store.readInboxOwners(10_000)) this.wake(merchantId);
      for (const one of released) if (one.status === "rejected") throw one.reason;
    } catch (error) {
      if (store.isConnectionError(error)) this.dropCaches();
      throw error;
    }
  }

  /** Goes on where the last look ended, so that what waits on keeps none behind it from being given back. */
  async #releaseClaimed(): Promise<void> {
    const after = this.#claimsLookedAt;
    this.#claimsLookedAt = null;
    this.#claimsLookedAt = await this.#context.store.releaseClaimed(after);
  }

  /** Tries once more what was quarantined as broken; when a node, perhaps of a new release, starts. */
  async retryBroken(): Promise<void> {
    const count = await this.#context.store.releaseBroken();
    if (count > 0) logEvent("journal.rows_retried", { count });
  }

  /** Global settings as the journal last read them. */
  settings(): Promise<Settings> {
    return this.#context.settings();
  }

  /**
   * Forgets accounts and settings as they were last read; they are read again when they
   * are next needed. For when the history of the database may have changed: a connection was lost,
   * or another server has taken over. Safe at any moment, also while a batch is under way.
   */
  dropCaches(): void {
    this.#context.dropCaches();
  }

  /**
   * Takes no more messages and finishes those it holds.
   *
   * @param boundMs after this long what is left is given up (nothing of it was acknowledged)
   */
  async stop(boundMs: number): Promise<void> {
    this.#context.isClosed = true;
    await within(boundMs, this.#running ?? Promise.resolve());
    this.#context.isStopping = true;
    this.#endPause?.();
    clearInterval(this.#ticker);
    for (const queued of this.#waiting) queued.expire();
  }

  #expire(): void {
    const now = this.#context.monotonic();
    for (const queued of this.#waiting) if (queued.deadline <= now) queued.expire();
    this.#context.tidy();
  }

  /**
   * Answers a sender. While others wait their batch goes first: the database writes it while these
   * answers become responses, instead of waiting for them.
   */
  #answer(resolve: () => void): void {
    if (this.#context.queue.size === 0) return resolve();
    this.#answers.push(resolve);
    if (this.#answers.length > 1) return;
    setImmediate(() => {
      const answers = this.#answers;
      this.#answers = [];
      for (const one of answers) one();
    });
  }

  #pump(): void {
    this.#endPause?.();
    if (this.#running !== null) return;
    // setImmediate: what arrives in this turn of the event loop still joins the batch
    this.#running = new Promise((resolve) => setImmediate(resolve)).then(() => this.#run());
  }

  async #run(): Promise<void> {
    const context = this.#context;
    const { queue, limit } = context;
    while (queue.size > 0 && !context.isStopping) {
      const taken = queue.take(limit, (merchantId) => context.standing(merchantId));
      if (taken.size === 0) {
        this.#batchSince = null;
        await this.#pause();
        continue;
      }
      this.#batchSince = context.monotonic();
      try {
        await this.#processor.process(await openBatch(context, taken));
      } catch (error) {
        // a bug of the journal or a database gone for good: nothing of this batch is acknowledged
        logEvent("journal.batch_given_up", { error });
        this.#giveUp(taken, error);
      }
    }
    this.#running = null;
    this.#batchSince = null;
    if (queue.size > 0 && !context.isStopping) this.#pump();
  }

  /** Until the next pause of a merchant is over, or a message comes. */
  async #pause(): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      this.#endPause = resolve;
      timer = setTimeout(resolve, Math.min(this.#context.paused.nextMs ?? TICK_MS, TICK_MS));
    });
    this.#endPause = null;
    clearTimeout(timer);
  }

  #giveUp(taken: Taken, error: unknown): void {
    const { counts, store, active, monotonic } = this.#context;
    counts.givenUp++;
    this.#givenUpAt = monotonic();
    const mayCome = store.isTransient(error) || store.isConnectionError(error);
    for (const [merchantId, items] of taken) {
      active.drop(merchantId);
      for (const item of items) {
        if (item.kind !== "command") continue;
        if (item.decided) item.answer({ kind: "unknown" });
        else item.answer({ kind: mayCome ? "overloaded" : "failed" });
      }
    }
  }
}
