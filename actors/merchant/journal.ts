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
import type { Currency } from "../../ledger/pair.ts";
import type { AskOutcome } from "../runtime/ask.ts";
import { BatchProcessor } from "./batch_processor.ts";
import type { Committed } from "./committed.ts";
import type { Work } from "./decide_batch.ts";
import { CommandEnvelope, type Decidable } from "./envelope.ts";
import { factOf } from "./facts.ts";
import type { Liquidity } from "./hot_funds.ts";
import type { Answers, MerchantCommand, Merchants } from "./messages.ts";
import { untilAnswered } from "./patience.ts";
import { MerchantQueue, type Taken } from "./queue.ts";
import type { Refusal } from "./refusal.ts";

const log = getLogger(["engine", "journal"]);

/**
 * The most messages of one batch, and inbox rows that it takes on; larger ones gain nothing and cost
 * latency (measured).
 */
const BATCH_LIMIT = 500;
/** How often deadlines are looked at. */
const TICK_MS = 50;
/** How long a merchant that broke a batch commits alone. */
const SUSPECT_MS = 60_000;

/** What the journal works with. */
export interface JournalOptions {
  readonly store: JournalStore;
  /** Unix milliseconds. */
  readonly now: () => number;
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

export class Journal implements Merchants {
  readonly #options: JournalOptions;
  readonly #store: JournalStore;
  readonly #queue: MerchantQueue;
  readonly #processor: BatchProcessor;
  readonly #waiting = new Set<CommandEnvelope>();
  readonly #suspects = new Map<string, number>();
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
    this.#queue = new MerchantQueue(
      options.queueCapacity ?? 4_096,
      options.mailboxCapacity ?? 2_048,
    );
    this.#processor = new BatchProcessor({
      store: options.store,
      onCommitted: options.onCommitted,
      liquidity: options.liquidity ?? (() => null),
      wake: (merchantId) => this.wake(merchantId),
      suspect: (merchantId) => this.#suspects.set(merchantId, options.now() + SUSPECT_MS),
      givenUp: () => this.#abandoned,
      ...(options.activeMerchants === undefined
        ? {}
        : { activeMerchants: options.activeMerchants }),
    });
    this.#ticker = setInterval(() => this.#expire(), TICK_MS);
  }

  /** Figures for metrics: batches and messages so far, messages waiting, merchants in memory. */
  get figures(): { batches: number; messages: number; waiting: number; active: number } {
    return {
      ...this.#processor.figures,
      waiting: this.#queue.size,
      active: this.#processor.active.size,
    };
  }

  /** How long the batch at hand has been under way, milliseconds; zero while there is none. */
  get busyMs(): number {
    return this.#batchSince === null ? 0 : this.#options.now() - this.#batchSince;
  }

  ask<C extends MerchantCommand>(
    merchantId: string,
    command: C,
    timeoutMs: number,
  ): Promise<AskOutcome<Answers[C["type"]], Refusal>> {
    return new Promise((resolve) => {
      const deadline = this.#options.now() + timeoutMs;
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

  /** Wakes every merchant that has rows waiting; at start and from time to time. */
  async wakeAll(): Promise<void> {
    await this.#store.releaseClaimed();
    for (const merchantId of await this.#store.readInboxOwners(10_000)) this.wake(merchantId);
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
    clearInterval(this.#ticker);
    for (const envelope of this.#waiting) envelope.expire();
  }

  #expire(): void {
    const now = this.#options.now();
    for (const envelope of this.#waiting) if (envelope.deadline <= now) envelope.expire();
    for (const [merchantId, until] of this.#suspects) {
      if (until <= now) this.#suspects.delete(merchantId);
    }
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
    if (this.#running !== null) return;
    // setImmediate: what arrives in this turn of the event loop still joins the batch
    this.#running = new Promise((resolve) => setImmediate(resolve)).then(() => this.#run());
  }

  get #batchLimit(): number {
    return this.#options.batchLimit ?? BATCH_LIMIT;
  }

  async #run(): Promise<void> {
    while (this.#queue.size > 0 && !this.#abandoned) {
      const taken = this.#queue.take(
        this.#batchLimit,
        (merchantId) => this.#suspects.has(merchantId),
      );
      this.#batchSince = this.#options.now();
      try {
        await this.#processor.process(await this.#open(taken));
      } catch (error) {
        // a bug of ours or a database gone for good: nothing of this batch is acknowledged
        log.error("a batch was given up: {error}", { error });
        this.#giveUp(taken, error);
      }
    }
    this.#running = null;
    this.#batchSince = null;
    if (this.#queue.size > 0 && !this.#abandoned) this.#pump();
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

  /** Replaces wake-ups by what the inbox holds. */
  async #open(taken: Taken): Promise<Work> {
    const work: Map<string, Decidable[]> = new Map();
    const woken: string[] = [];
    for (const [merchantId, envelopes] of taken) {
      work.set(merchantId, envelopes.filter((envelope) => envelope.kind === "command"));
      if (envelopes.some((envelope) => envelope.kind === "wake")) woken.push(merchantId);
    }
    if (woken.length > 0) await this.#readInbox(woken, work);
    for (const [merchantId, messages] of work) if (messages.length === 0) work.delete(merchantId);
    return work;
  }

  async #readInbox(woken: readonly string[], work: Map<string, Decidable[]>): Promise<void> {
    // shared out, so that a merchant with thousands of rows delays nobody else's
    const share = Math.max(Math.floor(this.#batchLimit / woken.length), 1);
    const rows = await this.#untilAnswered(() => this.#store.readInbox(woken, share));
    const at = this.#options.now();
    const counts = new Map<string, number>();
    for (const row of rows) {
      counts.set(row.merchantId, (counts.get(row.merchantId) ?? 0) + 1);
      try {
        const message = factOf(row, at, this.#options.usdRate);
        work.get(row.merchantId)?.push({ kind: "fact", message });
      } catch (error) {
        log.error("an inbox row cannot be read and is set aside: {txid}: {error}", {
          txid: row.txid,
          error,
        });
        await this.#untilAnswered(() =>
          this.#store.quarantineInboxRow(row, `unreadable: ${error}`)
        );
      }
    }
    // there may be more than this batch takes on
    for (const [merchantId, count] of counts) if (count === share) this.wake(merchantId);
  }

  #untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
    return untilAnswered(this.#store, () => this.#abandoned, ask);
  }
}
