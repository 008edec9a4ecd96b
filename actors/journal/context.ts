/**
 * The shared state of one journal: the database, its caches, the mailboxes, and the merchants that are
 * not decided together with others just now.
 *
 * @module
 */

import type { Settings } from "../../ledger/settings.ts";
import type { Quarantining } from "../../ledger/journal/quarantine_rows.ts";
import { type JournalStore, retry } from "../../ledger/journal/store.ts";
import type { Currency, Network } from "../../ledger/money/pair.ts";
import type { Liquidity, MerchantState, Reservation } from "../merchant/state.ts";
import type { PaymentMove } from "./payment_moves.ts";
import {
  AuditPause,
  DoubtfulMerchants,
  PausedMerchants,
  ReferencesFirst,
} from "./merchant_standing.ts";
import { quarantineApart } from "./quarantine_apart.ts";
import { MerchantQueue, type QueuedMessage, type Standing } from "./queue.ts";

/**
 * The most messages of one batch, and inbox rows that it takes on; larger ones gain nothing and cost
 * latency (measured).
 */
const BATCH_LIMIT = 500;
/** The most commands that wait in all mailboxes together, and in one. */
const QUEUE_CAPACITY = 4_096;
const MAILBOX_CAPACITY = 2_048;
/** Merchants that stay in memory. */
const ACTIVE_MERCHANTS = 10_000;
/** Milliseconds for which a merchant that broke a batch commits alone. */
const SUSPECT_MS = 60_000;
/** Reasons that are a fault of the service. */
const BROKEN = /^(bug|unreadable):/;

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
  /**
   * True while a queued payout of a network may be paid in blocks that this node has yet to read, or does not read at all, so
   * that its refund waits.
   * Left out: none is known to be.
   *
   * @param readBatches reads how many batches were signed for it, see {@linkcode JournalStore}
   */
  readonly holdsRefunds?: (
    network: Network,
    readBatches: () => Promise<bigint>,
  ) => Promise<boolean>;
  /** The most messages of one batch, default 500; a bench compares it with 1. */
  readonly batchLimit?: number;
  /** Merchants that stay in memory, default 10,000. */
  readonly activeMerchants?: number;
}

/** A commit as other actors are woken by it; the rows are durable. */
export interface Committed {
  /** Merchants with new events to deliver. */
  readonly events: ReadonlySet<string>;
  /** Networks with new payouts. */
  readonly networks: ReadonlySet<Network>;
  /** Amounts that new payouts reserve of the hot wallets. */
  readonly reservations: readonly Reservation[];
  /** Deposits that were seen and are not final yet. */
  readonly pendingDeposits: readonly PendingDeposit[];
  /** Payments that have reached another status. */
  readonly moves: readonly PaymentMove[];
}

/** A deposit that was seen, and when its transaction dies (block time). */
export interface PendingDeposit {
  readonly depositId: string;
  readonly expiresAt: number;
}

/** The merchants in memory, least recently used first; one that is dropped is read again when needed. */
export class ActiveMerchants {
  readonly #merchants = new Map<string, MerchantState>();

  /** @param capacity how many merchants stay in memory */
  constructor(readonly capacity: number) {}

  /** Merchants in memory. */
  get size(): number {
    return this.#merchants.size;
  }

  get(merchantId: string): MerchantState | undefined {
    return this.#merchants.get(merchantId);
  }

  /** Takes a merchant's state, as it was read or committed; others may have to leave. */
  put(merchantId: string, state: MerchantState): void {
    this.#merchants.delete(merchantId);
    this.#merchants.set(merchantId, state);
    // the front of the map is full of places that others have moved from, and is walked only for want of room
    if (this.#merchants.size <= this.capacity) return;
    const [oldest] = this.#merchants.keys();
    if (oldest !== undefined) this.#merchants.delete(oldest);
  }

  /** Forgets a merchant whose state is no longer known to be current. */
  drop(merchantId: string): void {
    this.#merchants.delete(merchantId);
  }

  /** Forgets all of them: what is remembered may be of a history that the database no longer has. */
  clear(): void {
    this.#merchants.clear();
  }
}

export class JournalContext {
  readonly store: JournalStore;
  readonly now: () => number;
  readonly monotonic: () => number;
  readonly usdRate: (currency: Currency) => string;
  readonly onCommitted: (committed: Committed) => void;
  readonly liquidity: Liquidity;
  readonly holdsRefunds: NonNullable<JournalOptions["holdsRefunds"]>;
  readonly limit: number;
  readonly queue = new MerchantQueue(QUEUE_CAPACITY, MAILBOX_CAPACITY);
  readonly active: ActiveMerchants;
  readonly paused = new PausedMerchants(() => this.monotonic());
  readonly doubts = new DoubtfulMerchants(() => this.monotonic());
  readonly referencesFirst = new ReferencesFirst(() => this.monotonic());
  readonly audit = new AuditPause();
  /** Counted since the start. */
  readonly counts = { batches: 0, messages: 0, quarantined: 0, givenUp: 0 };
  /** True once no more messages are taken. */
  isClosed = false;
  /** True once waiting for the database has ended. */
  isStopping = false;
  readonly #suspects = new Map<string, number>();
  #settings: Settings | null = null;
  /** Raised when what was read before is no longer trusted. */
  #generation = 0;
  #cleared = 0;

  /** @param pump called when there is something to take */
  constructor(options: JournalOptions, readonly pump: () => void) {
    this.store = options.store;
    this.now = options.now;
    this.monotonic = options.monotonic ?? (() => performance.now());
    this.usdRate = options.usdRate;
    this.onCommitted = options.onCommitted;
    this.liquidity = options.liquidity ?? (() => null);
    this.holdsRefunds = options.holdsRefunds ?? (() => Promise.resolve(false));
    this.limit = options.batchLimit ?? BATCH_LIMIT;
    this.active = new ActiveMerchants(options.activeMerchants ?? ACTIVE_MERCHANTS);
  }

  /** Asks the database again until it answers. */
  retry<T>(ask: () => Promise<T>): Promise<T> {
    return retry(this.store, () => this.isStopping, ask, () => this.dropCaches());
  }

  /** Global settings as last read; read again when a write finds them changed. */
  async settings(): Promise<Settings> {
    if (this.#settings !== null) return this.#settings;
    const generation = this.#generation;
    const settings = await this.store.readSettings();
    // what was asked for before caches were dropped may be the answer of a server that is gone
    if (generation === this.#generation) this.#settings = settings;
    return settings;
  }

  dropSettings(): void {
    this.#settings = null;
  }

  /**
   * Forgets what was read: accounts and settings. Safe at any moment: what a batch under way has in
   * hand is compared by its write, and memory is emptied before the next one is decided.
   */
  dropCaches(): void {
    this.#generation++;
    this.#settings = null;
  }

  /** Empties memory where caches were dropped since; before a batch is decided. */
  clearDropped(): void {
    if (this.#cleared === this.#generation) return;
    this.#cleared = this.#generation;
    this.active.clear();
  }

  /** Has a merchant's inbox read: it has rows. */
  wake(merchantId: string): void {
    if (this.isClosed) return;
    this.queue.offer(merchantId, { kind: "wake" });
    this.pump();
  }

  /** The way in which a merchant's messages are taken. */
  standing(merchantId: string): Standing {
    if (this.paused.has(merchantId)) return "paused";
    const isAlone = this.#suspects.has(merchantId) || this.doubts.has(merchantId);
    return isAlone ? "alone" : "shared";
  }

  /** Has a merchant commit alone for a while: one of its messages broke a batch. */
  suspect(merchantId: string): void {
    this.#suspects.set(merchantId, this.monotonic() + SUSPECT_MS);
  }

  /** Gives messages back to their merchant's mailbox, for its next turn. */
  giveBack(merchantId: string, messages: readonly QueuedMessage[]): void {
    const commands = messages.filter((queued) => queued.kind === "command");
    this.queue.putBack(merchantId, commands);
    // the rows of the inbox are read again
    if (commands.length < messages.length) this.queue.offer(merchantId, { kind: "wake" });
  }

  /** The same, and pauses the merchant; the longer, the longer others were kept (milliseconds). */
  pause(merchantId: string, messages: readonly QueuedMessage[], costMs: number): void {
    const until = this.monotonic() + this.paused.pause(merchantId, costMs);
    // found again, it would cost others as much as the first time
    if (this.#suspects.has(merchantId)) this.#suspects.set(merchantId, until + SUSPECT_MS);
    this.giveBack(merchantId, messages);
  }

  resume(merchantId: string): void {
    this.paused.resume(merchantId);
    this.pump();
  }

  /** Forgets merchants that were not heard of again. */
  tidy(): void {
    const now = this.monotonic();
    for (const [merchantId, until] of this.#suspects) {
      if (until <= now) this.#suspects.delete(merchantId);
    }
    this.paused.tidy();
    this.doubts.tidy();
    this.referencesFirst.tidy();
  }

  /** Quarantines a message; its sender is answered that it failed. */
  async quarantine(queued: QueuedMessage, reason: string): Promise<void> {
    if (queued.kind === "event") {
      return await this.quarantineRows([{ key: queued.message.key, reason }]);
    }
    this.counts.quarantined++;
    queued.answer({ kind: "failed" });
  }

  /** Quarantines rows of the inbox together, see {@linkcode quarantineApart}. */
  async quarantineRows(rows: readonly Quarantining[]): Promise<void> {
    // what waits for its pair or for a decision is no fault
    this.counts.quarantined += rows.filter(({ reason }) => BROKEN.test(reason)).length;
    await quarantineApart(this.store, rows);
  }
}
