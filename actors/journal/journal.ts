/**
 * The loop that makes money durable for all merchant actors of a slot group, one batch at a time:
 * take, read, decide, write, apply and reply. Nothing is decided ahead, so nothing has to be
 * undone; replies, refusals too, leave only after the commit they rest on.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { Settings } from "../../ledger/journal/read_settings.ts";
import { type JournalStore, retry } from "../../ledger/journal/store.ts";
import type { Currency } from "../../ledger/money/pair.ts";
import type { Liquidity } from "../merchant/liquidity.ts";
import type { Answers, MerchantCommand, Merchants } from "../merchant/messages.ts";
import type { Refusal } from "../merchant/refusal.ts";
import type { AskOutcome } from "../runtime/ask.ts";
import { BatchProcessor, quarantine } from "./batch_processor.ts";
import type { Committed } from "./decide_batch.ts";
import { DoubtfulMerchants, PausedMerchants } from "./merchant_standing.ts";
import { openBatch, type Opening } from "./open_batch.ts";
import {
  MerchantQueue,
  QueuedCommand,
  type QueuedMessage,
  type Standing,
  type Taken,
} from "./queue.ts";

const log = getLogger(["engine", "journal"]);

/**
 * The most messages of one batch, and inbox rows that it takes on; larger ones gain nothing and cost
 * latency (measured).
 */
const BATCH_LIMIT = 500;
/** Pause between two checks of deadlines, and of paused merchants while nothing else waits. */
const TICK_MS = 50;
/** Time for which a merchant that broke a batch commits alone. */
const SUSPECT_MS = 60_000;

export interface JournalOptions {
  readonly store: JournalStore;
  /** Unix milliseconds, for what is kept. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set, for deadlines; default `performance.now`. */
  readonly monotonic?: () => number;
  /** US dollars per unit of a currency. */
  readonly usdRate: (currency: Currency) => string;
  readonly onCommitted: (committed: Committed) => void;
  /** Amounts that hot wallets can still pay. Left out: no payout is refused for lack of funds. */
  readonly liquidity?: Liquidity;
  readonly queueCapacity?: number;
  readonly mailboxCapacity?: number;
  /** The most messages of one batch, default 500; a bench compares it with 1. */
  readonly batchLimit?: number;
  /** Merchants that stay in memory. */
  readonly activeMerchants?: number;
}

export interface JournalFigures {
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
  readonly #options: JournalOptions;
  readonly #store: JournalStore;
  readonly #monotonic: () => number;
  readonly #queue: MerchantQueue;
  readonly #processor: BatchProcessor;
  readonly #opening: Opening;
  readonly #waiting = new Set<QueuedCommand>();
  readonly #suspects = new Map<string, number>();
  readonly #paused = new PausedMerchants(() => this.#monotonic());
  readonly #doubts = new DoubtfulMerchants(() => this.#monotonic());
  /** Ends the loop's pause while all that waits is paused. */
  #endPause: (() => void) | null = null;
  #givenUp = 0;
  #givenUpAt: number | null = null;
  #unreadable = 0;
  #running: Promise<void> | null = null;
  /** Answers that may leave and are about to. */
  #answers: (() => void)[] = [];
  #batchSince: number | null = null;
  #isClosed = false;
  #isAbandoned = false;
  #ticker: ReturnType<typeof setInterval>;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#store = options.store;
    this.#monotonic = options.monotonic ?? (() => performance.now());
    this.#queue = new MerchantQueue(
      options.queueCapacity ?? 4_096,
      options.mailboxCapacity ?? 2_048,
    );
    this.#processor = new BatchProcessor({
      store: options.store,
      onCommitted: options.onCommitted,
      liquidity: options.liquidity ?? (() => null),
      wake: (merchantId) => this.wake(merchantId),
      suspect: (merchantId) => this.#suspects.set(merchantId, this.#monotonic() + SUSPECT_MS),
      giveBack: (merchantId, messages) => this.#giveBack(merchantId, messages),
      pause: (merchantId, messages, costMs) => {
        const until = this.#monotonic() + this.#paused.pause(merchantId, costMs);
        // found again, it would cost others as much as the first time
        if (this.#suspects.has(merchantId)) this.#suspects.set(merchantId, until + SUSPECT_MS);
        this.#giveBack(merchantId, messages);
      },
      pauseUntilResumed: (merchantId) => this.#paused.pauseUntilResumed(merchantId),
      resume: (merchantId) => {
        this.#paused.resume(merchantId);
        this.#pump();
      },
      isPaused: (merchantId) => this.#paused.has(merchantId),
      doubts: this.#doubts,
      isStopping: () => this.#isAbandoned,
      ...(options.activeMerchants === undefined
        ? {}
        : { activeMerchants: options.activeMerchants }),
    });
    this.#opening = {
      store: options.store,
      doubts: this.#doubts,
      limit: this.#batchLimit,
      now: options.now,
      monotonic: this.#monotonic,
      usdRate: options.usdRate,
      retry: (ask) => retry(options.store, () => this.#isAbandoned, ask, () => this.dropCaches()),
      wake: (merchantId) => this.wake(merchantId),
      pause: (merchantId, costMs) => this.#paused.pause(merchantId, costMs),
      quarantine: async (row, reason) => {
        this.#unreadable++;
        await quarantine(options.store, row, reason);
      },
    };
    this.#ticker = setInterval(() => this.#expire(), TICK_MS);
  }

  /** Figures for metrics. */
  get figures(): JournalFigures {
    const { batches, messages, quarantined } = this.#processor.figures;
    return {
      batches,
      messages,
      waiting: this.#queue.size,
      active: this.#processor.active.size,
      paused: this.#paused.size,
      suspended: this.#paused.suspended,
      quarantined: quarantined + this.#unreadable,
      givenUp: this.#givenUp,
    };
  }

  /** How long ago a batch was last given up, milliseconds; null: never. */
  get givenUpMs(): number | null {
    return this.#givenUpAt === null ? null : this.#monotonic() - this.#givenUpAt;
  }

  /** Milliseconds since a row that all audited commands need was last found locked. */
  get auditLockedMs(): number {
    return this.#processor.audit.lockedMs;
  }

  /** How long the batch at hand has been under way, milliseconds; zero while there is none. */
  get busyMs(): number {
    return this.#batchSince === null ? 0 : this.#monotonic() - this.#batchSince;
  }

  ask<C extends MerchantCommand>(
    merchantId: string,
    command: C,
    timeoutMs: number,
  ): Promise<AskOutcome<Answers[C["type"]], Refusal>> {
    return new Promise((resolve) => {
      const deadline = this.#monotonic() + timeoutMs;
      const queued = new QueuedCommand(command, deadline, (outcome) => {
        this.#waiting.delete(queued);
        // the answer's type follows from the command's: decide() switches on the same tag
        this.#answer(() => resolve(outcome as AskOutcome<Answers[C["type"]], Refusal>));
      });
      if (this.#isClosed || !this.#queue.offer(merchantId, queued)) {
        queued.answer({ kind: "overloaded" });
        return;
      }
      this.#waiting.add(queued);
      this.#pump();
    });
  }

  /** Has a merchant's inbox read: it has rows. */
  wake(merchantId: string): void {
    if (this.#isClosed) return;
    this.#queue.offer(merchantId, { kind: "wake" });
    this.#pump();
  }

  /**
   * Wakes every merchant that has rows waiting; at start and from time to time.
   *
   * @throws also when only giving back what waited for a decision has failed: all were woken then
   */
  async wakeAll(): Promise<void> {
    try {
      const released = await this.#store.releaseClaimed().then(() => null, (error: unknown) => ({
        error,
      }));
      for (const merchantId of await this.#store.readInboxOwners(10_000)) this.wake(merchantId);
      if (released !== null) throw released.error;
    } catch (error) {
      if (this.#store.isConnectionError(error)) this.dropCaches();
      throw error;
    }
  }

  /** Tries once more what was quarantined as broken; when a node, perhaps of a new release, starts. */
  async retryBroken(): Promise<void> {
    const count = await this.#store.releaseBroken();
    if (count > 0) log.warn("{count} inbox rows that were quarantined are tried again", { count });
  }

  /** Global settings as the journal last read them. */
  settings(): Promise<Settings> {
    return this.#processor.settings();
  }

  /**
   * Forgets accounts and settings as they were last read; they are read again when they
   * are next needed. For when the history of the database may have changed: a connection was lost,
   * or another server has taken over. Safe at any moment, also while a batch is under way.
   */
  dropCaches(): void {
    this.#processor.dropCaches();
  }

  /**
   * Takes no more messages and finishes those it holds.
   *
   * @param boundMs after this long what is left is given up (nothing of it was acknowledged)
   */
  async stop(boundMs: number): Promise<void> {
    this.#isClosed = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const bound = new Promise<void>((resolve) => timer = setTimeout(resolve, boundMs));
    await Promise.race([this.#running ?? Promise.resolve(), bound]);
    clearTimeout(timer);
    this.#isAbandoned = true;
    this.#endPause?.();
    clearInterval(this.#ticker);
    for (const queued of this.#waiting) queued.expire();
  }

  #expire(): void {
    const now = this.#monotonic();
    for (const queued of this.#waiting) if (queued.deadline <= now) queued.expire();
    for (const [merchantId, until] of this.#suspects) {
      if (until <= now) this.#suspects.delete(merchantId);
    }
    this.#paused.tidy();
    this.#doubts.tidy();
  }

  /**
   * Answers a sender. While others wait their batch goes first: the database writes it while these
   * answers become responses, instead of waiting for them.
   */
  #answer(resolve: () => void): void {
    if (this.#queue.size === 0) return resolve();
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

  get #batchLimit(): number {
    return this.#options.batchLimit ?? BATCH_LIMIT;
  }

  async #run(): Promise<void> {
    while (this.#queue.size > 0 && !this.#isAbandoned) {
      const taken = this.#queue.take(this.#batchLimit, (merchantId) => this.#standing(merchantId));
      if (taken.size === 0) {
        this.#batchSince = null;
        await this.#pause();
        continue;
      }
      this.#batchSince = this.#monotonic();
      try {
        await this.#processor.process(await openBatch(this.#opening, taken));
      } catch (error) {
        // a bug of the journal or a database gone for good: nothing of this batch is acknowledged
        log.error("a batch was given up: {error}", { error });
        this.#givenUp++;
        this.#givenUpAt = this.#monotonic();
        this.#giveUp(taken, error);
      }
    }
    this.#running = null;
    this.#batchSince = null;
    if (this.#queue.size > 0 && !this.#isAbandoned) this.#pump();
  }

  #standing(merchantId: string): Standing {
    if (this.#paused.has(merchantId)) return "paused";
    const isAlone = this.#suspects.has(merchantId) || this.#doubts.has(merchantId);
    return isAlone ? "alone" : "shared";
  }

  /** Until the next pause of a merchant is over, or a message comes. */
  async #pause(): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      this.#endPause = resolve;
      timer = setTimeout(resolve, Math.min(this.#paused.nextMs ?? TICK_MS, TICK_MS));
    });
    this.#endPause = null;
    clearTimeout(timer);
  }

  #giveBack(merchantId: string, messages: readonly QueuedMessage[]): void {
    const commands = messages.filter((queued) => queued.kind === "command");
    this.#queue.putBack(merchantId, commands);
    // the rows of the inbox are read again
    if (commands.length < messages.length) this.#queue.offer(merchantId, { kind: "wake" });
  }

  #giveUp(taken: Taken, error: unknown): void {
    const mayCome = this.#store.isTransient(error) || this.#store.isConnectionError(error);
    for (const [merchantId, items] of taken) {
      this.#processor.active.drop(merchantId);
      for (const item of items) {
        if (item.kind !== "command") continue;
        if (item.decided) item.answer({ kind: "unknown" });
        else item.answer({ kind: mayCome ? "overloaded" : "failed" });
      }
    }
  }
}
