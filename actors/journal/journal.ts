/**
 * The loop that makes money durable for all merchant actors of a slot group, one batch at a time:
 * take, read, decide, write, apply and reply. Nothing is decided ahead, so nothing has to be
 * undone; replies, refusals too, leave only after the commit they rest on.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { Settings } from "../../ledger/journal/read_settings.ts";
import type { JournalStore } from "../../ledger/journal/store.ts";
import type { Currency } from "../../ledger/money/pair.ts";
import type { AskOutcome } from "../runtime/ask.ts";
import { BatchProcessor } from "./batch_processor.ts";
import type { Committed } from "./committed.ts";
import { CommandEnvelope, type Decidable } from "./envelope.ts";
import { DoubtfulMerchants } from "./doubtful_merchants.ts";
import type { Liquidity } from "../merchant/liquidity.ts";
import type { Answers, MerchantCommand, Merchants } from "../merchant/messages.ts";
import { HeldMerchants } from "./held_merchants.ts";
import { type Opening, openWork } from "./open_work.ts";
import { untilAnswered } from "./patience.ts";
import { quarantine } from "./quarantine.ts";
import { MerchantQueue, type Standing, type Taken } from "./queue.ts";
import type { Refusal } from "../merchant/refusal.ts";

const log = getLogger(["engine", "journal"]);

/**
 * The most messages of one batch, and inbox rows that it takes on; larger ones gain nothing and cost
 * latency (measured).
 */
const BATCH_LIMIT = 500;
/** How often deadlines are looked at, and what is held while nothing else waits. */
const TICK_MS = 50;
/** How long a merchant that broke a batch commits alone. */
const SUSPECT_MS = 60_000;

/** What the journal works with. */
export interface JournalOptions {
  readonly store: JournalStore;
  /** Unix milliseconds, for what is kept. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set, for deadlines; default `performance.now`. */
  readonly monotonic?: () => number;
  /** US dollars per unit of a currency. */
  readonly usdRate: (currency: Currency) => string;
  readonly onCommitted: (committed: Committed) => void;
  /** What hot wallets can still promise; without it nobody is refused for want of it. */
  readonly liquidity?: Liquidity;
  readonly queueCapacity?: number;
  readonly mailboxCapacity?: number;
  /** The most messages of one batch, default 500; what it is worth is measured with 1. */
  readonly batchLimit?: number;
  /** How many merchants stay in memory. */
  readonly activeMerchants?: number;
}

/** What the journal counts. */
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
  readonly held: number;
  /** Those of them that have waited for longer than any commit takes. */
  readonly suspended: number;
  /** Messages set aside so far. */
  readonly aside: number;
  /** Batches given up so far: their senders were told that nothing, or that nothing certain, is known. */
  readonly givenUp: number;
}

export class Journal implements Merchants {
  readonly #options: JournalOptions;
  readonly #store: JournalStore;
  readonly #monotonic: () => number;
  readonly #queue: MerchantQueue;
  readonly #processor: BatchProcessor;
  readonly #opening: Opening;
  readonly #waiting = new Set<CommandEnvelope>();
  readonly #suspects = new Map<string, number>();
  readonly #held = new HeldMerchants(() => this.#monotonic());
  readonly #doubts = new DoubtfulMerchants(() => this.#monotonic());
  /** Ends the loop's pause while all that waits is held. */
  #endPause: (() => void) | null = null;
  #givenUp = 0;
  #givenUpAt: number | null = null;
  #unreadable = 0;
  #running: Promise<void> | null = null;
  /** Answers that may leave and are about to. */
  #answers: (() => void)[] = [];
  #batchSince: number | null = null;
  #closed = false;
  #abandoned = false;
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
      giveBack: (merchantId, envelopes) => this.#giveBack(merchantId, envelopes),
      hold: (merchantId, envelopes, costMs) => {
        const until = this.#monotonic() + this.#held.pause(merchantId, costMs);
        // found again, it would cost others as much as the first time
        if (this.#suspects.has(merchantId)) this.#suspects.set(merchantId, until + SUSPECT_MS);
        this.#giveBack(merchantId, envelopes);
      },
      freeze: (merchantId) => this.#held.freeze(merchantId),
      release: (merchantId) => {
        this.#held.release(merchantId);
        this.#pump();
      },
      isHeld: (merchantId) => this.#held.has(merchantId),
      doubts: this.#doubts,
      givenUp: () => this.#abandoned,
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
      untilAnswered: (ask) => this.#untilAnswered(ask),
      wake: (merchantId) => this.wake(merchantId),
      rest: (merchantId, costMs) => this.#held.pause(merchantId, costMs),
      setAside: async (row, reason) => {
        this.#unreadable++;
        await quarantine(options.store, row, reason);
      },
    };
    this.#ticker = setInterval(() => this.#expire(), TICK_MS);
  }

  /** Figures for metrics. */
  get figures(): JournalFigures {
    const { batches, messages, aside } = this.#processor.figures;
    return {
      batches,
      messages,
      waiting: this.#queue.size,
      active: this.#processor.active.size,
      held: this.#held.size,
      suspended: this.#held.suspended,
      aside: aside + this.#unreadable,
      givenUp: this.#givenUp,
    };
  }

  /** How long ago a batch was last given up, milliseconds; null: never. */
  get givenUpMs(): number | null {
    return this.#givenUpAt === null ? null : this.#monotonic() - this.#givenUpAt;
  }

  /** How long ago a row that all audited commands need was last found held, milliseconds. */
  get auditHeldMs(): number {
    return this.#processor.audit.heldMs;
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
      const envelope = new CommandEnvelope(command, deadline, (outcome) => {
        this.#waiting.delete(envelope);
        // the answer's type follows from the command's: decide() switches on the same tag
        this.#answer(() => resolve(outcome as AskOutcome<Answers[C["type"]], Refusal>));
      });
      if (this.#closed || !this.#queue.offer(merchantId, envelope)) {
        envelope.settle({ kind: "overloaded" });
        return;
      }
      this.#waiting.add(envelope);
      this.#pump();
    });
  }

  /** Says that a merchant's inbox has rows. */
  wake(merchantId: string): void {
    if (this.#closed) return;
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

  /** Tries once more what was set aside as broken; when a node, perhaps of a new release, starts. */
  async retryBroken(): Promise<void> {
    const count = await this.#store.releaseBroken();
    if (count > 0) log.warn("{count} inbox rows that were set aside are tried again", { count });
  }

  /** Global settings as the journal last read them. */
  settings(): Promise<Settings> {
    return this.#processor.settings();
  }

  /**
   * Forgets accounts, references and settings as they were last read; they are read again when they
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
    this.#closed = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const bound = new Promise<void>((resolve) => timer = setTimeout(resolve, boundMs));
    await Promise.race([this.#running ?? Promise.resolve(), bound]);
    clearTimeout(timer);
    this.#abandoned = true;
    this.#endPause?.();
    clearInterval(this.#ticker);
    for (const envelope of this.#waiting) envelope.expire();
  }

  #expire(): void {
    const now = this.#monotonic();
    for (const envelope of this.#waiting) if (envelope.deadline <= now) envelope.expire();
    for (const [merchantId, until] of this.#suspects) {
      if (until <= now) this.#suspects.delete(merchantId);
    }
    this.#held.tidy();
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
    while (this.#queue.size > 0 && !this.#abandoned) {
      const taken = this.#queue.take(this.#batchLimit, (merchantId) => this.#standing(merchantId));
      if (taken.size === 0) {
        this.#batchSince = null;
        await this.#pause();
        continue;
      }
      this.#batchSince = this.#monotonic();
      try {
        await this.#processor.process(await openWork(this.#opening, taken));
      } catch (error) {
        // a bug of ours or a database gone for good: nothing of this batch is acknowledged
        log.error("a batch was given up: {error}", { error });
        this.#givenUp++;
        this.#givenUpAt = this.#monotonic();
        this.#giveUp(taken, error);
      }
    }
    this.#running = null;
    this.#batchSince = null;
    if (this.#queue.size > 0 && !this.#abandoned) this.#pump();
  }

  #standing(merchantId: string): Standing {
    if (this.#held.has(merchantId)) return "held";
    const isAlone = this.#suspects.has(merchantId) || this.#doubts.has(merchantId);
    return isAlone ? "alone" : "shared";
  }

  /** Until the next held merchant is due, or a message comes. */
  async #pause(): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      this.#endPause = resolve;
      timer = setTimeout(resolve, Math.min(this.#held.nextMs ?? TICK_MS, TICK_MS));
    });
    this.#endPause = null;
    clearTimeout(timer);
  }

  #giveBack(merchantId: string, envelopes: readonly Decidable[]): void {
    const commands = envelopes.filter((envelope) => envelope.kind === "command");
    this.#queue.putBack(merchantId, commands);
    // the rows of the inbox are read again
    if (commands.length < envelopes.length) this.#queue.offer(merchantId, { kind: "wake" });
  }

  #giveUp(taken: Taken, error: unknown): void {
    const mayCome = this.#store.isSetback(error) || this.#store.isConnectionError(error);
    for (const [merchantId, envelopes] of taken) {
      this.#processor.active.drop(merchantId);
      for (const envelope of envelopes) {
        if (envelope.kind === "command") {
          if (envelope.decided) envelope.settle({ kind: "unknown" });
          else envelope.settle({ kind: mayCome ? "overloaded" : "failed" });
        }
      }
    }
  }

  #untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
    return untilAnswered(this.#store, () => this.#abandoned, ask, () => this.dropCaches());
  }
}
