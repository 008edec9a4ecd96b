/**
 * The actors of one node, wired to each other. Everything they tell each other is a wake-up; what
 * has to survive is in the database, so starting again after any death is just starting.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { Sql } from "postgres";
import type { Chain } from "../chains/chain.ts";
import type { Signer } from "../chains/signer.ts";
import type { Amount } from "../ledger/amount.ts";
import { pruneCommitLog } from "../ledger/journal/prune_commit_log.ts";
import { createJournalStore } from "../ledger/journal/store.ts";
import type { Currency, Network } from "../ledger/pair.ts";
import { readUnwatchedDeposits } from "../ledger/watcher/read_pending_deposits.ts";
import { AddressBook } from "./addresses/address_book.ts";
import type { Committed } from "./merchant/committed.ts";
import { Journal } from "./merchant/journal.ts";
import { paymentActors } from "./payment/payment_actor.ts";
import { Actors } from "./runtime/actor.ts";
import { type DueTimer, Timers } from "./runtime/timers.ts";
import { type Liquidity, treasuryActors } from "./treasury/treasury_actor.ts";
import { watcherActors, type WatcherStatus } from "./watcher/watcher_actor.ts";

const log = getLogger(["engine", "actors"]);

/** How often inboxes and pending deposits are looked through for what nobody was told of. */
const SWEEP_MS = 5_000;
/** Deposits that one sweep begins to watch. */
const UNWATCHED_LIMIT = 1_000;
/** How often the log of commits is cut, and how much of it is kept. */
const PRUNE_MS = 10 * 60_000;
const KEEP_COMMITS_MS = 3_600_000;

/** The deliverer of events, as the engine uses it. */
export interface Webhooks {
  /** Says that a merchant has new events. */
  wake(merchantId: string): void;
  start(): void;
  stop(): Promise<void>;
}

/** How fast a node looks at things. */
export interface Pace {
  /** How often each network is looked at, milliseconds. */
  readonly pollMs: number;
  /** How long queued transfers that a node died with are left alone, milliseconds. */
  readonly leaseMs: number;
  /** How long a signed transaction is left alone before it is sent again, milliseconds. */
  readonly resendMs: number;
  /** How often a pending deposit's expiry is looked at again, milliseconds. */
  readonly recheckMs: number;
  /** After so many expired attempts a payout is given up and refunded. */
  readonly attemptLimit: number;
}

/** What an engine is made of. */
export interface EngineDeps {
  /** Pool for everything but the journal. */
  readonly sql: Sql;
  /** Pool of the journal, so that reads never wait in front of money. */
  readonly journalSql: Sql;
  readonly chains: ReadonlyMap<Network, Chain>;
  readonly signer: Signer;
  readonly webhooks: Webhooks;
  readonly pace: Pace;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** US dollars per unit of a currency. */
  readonly usdRate: (currency: Currency) => string;
}

/** A running node. */
export class Engine {
  readonly merchants: Journal;
  readonly addressBook: AddressBook;
  readonly #deps: EngineDeps;
  readonly #timers: Timers;
  readonly #payments;
  readonly #treasuries;
  readonly #watchers;
  readonly #liquidity = new Map<Network, Liquidity>();
  readonly #signerOpen = new Map<Network, boolean>();
  readonly #status = new Map<Network, WatcherStatus>();
  #tickers: ReturnType<typeof setInterval>[] = [];

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    const { sql, chains, now, pace } = deps;
    this.merchants = new Journal({
      store: createJournalStore(deps.journalSql),
      now,
      usdRate: deps.usdRate,
      onCommitted: (news) => this.#announce(news),
    });
    this.addressBook = new AddressBook(sql, chains);
    this.#timers = new Timers(sql, (timer) => this.#deliver(timer));
    const wakeMerchants = (merchantIds: ReadonlySet<string>) => {
      for (const merchantId of merchantIds) this.merchants.wake(merchantId);
    };
    this.#payments = new Actors(paymentActors({
      sql,
      timers: this.#timers,
      now,
      recheckMs: pace.recheckMs,
      wakeMerchant: (merchantId) => this.merchants.wake(merchantId),
    }));
    this.#treasuries = new Actors(treasuryActors({
      sql,
      chains,
      signer: deps.signer,
      now,
      leaseMs: pace.leaseMs,
      resendMs: pace.resendMs,
      attemptLimit: pace.attemptLimit,
      wakeMerchants,
      onLiquidity: (network, liquidity) => this.#liquidity.set(network, liquidity),
      onSignerState: (network, open) => this.#signerOpen.set(network, open),
    }));
    this.#watchers = new Actors(watcherActors({
      sql,
      chains,
      now,
      wakeMerchants,
      onSolid: (network) => this.#treasuries.tell(network, { type: "look" }),
      onStatus: (network, status) => this.#status.set(network, status),
    }));
  }

  /** What the hot wallet can still promise; null where it is not known. */
  liquidity(network: Network, currency: Currency): Amount | null {
    return this.#liquidity.get(network)?.get(currency) ?? null;
  }

  /** Whether payouts of a network can be signed, as far as is known. */
  signerOpen(network: Network): boolean {
    return this.#signerOpen.get(network) ?? true;
  }

  /** Networks that this node serves. */
  get networks(): readonly Network[] {
    return [...this.#deps.chains.keys()];
  }

  /** How far each network was read; none that was never reached. */
  get watched(): ReadonlyMap<Network, WatcherStatus> {
    return this.#status;
  }

  /** Figures for metrics. */
  get figures() {
    return {
      journal: this.merchants.figures,
      payments: this.#payments.figures,
      treasuries: this.#treasuries.figures,
      watchers: this.#watchers.figures,
    };
  }

  /** Takes up everything that is in flight and starts to look around. */
  async start(): Promise<void> {
    await this.merchants.settings();
    await this.merchants.retryBroken();
    await this.merchants.wakeAll();
    await this.#watchDeposits();
    this.#timers.start(this.#deps.pace.recheckMs);
    this.#deps.webhooks.start();
    const look = () => {
      for (const network of this.#deps.chains.keys()) {
        this.#watchers.tell(network, { type: "tick" });
        this.#treasuries.tell(network, { type: "look" });
      }
    };
    look();
    this.#every(this.#deps.pace.pollMs, look);
    this.#every(SWEEP_MS, () => this.merchants.wakeAll());
    this.#every(SWEEP_MS, () => this.#watchDeposits());
    this.#every(PRUNE_MS, () => pruneCommitLog(this.#deps.sql, KEEP_COMMITS_MS));
  }

  /**
   * Stops taking messages and finishes those at hand.
   *
   * @param boundMs after this long the rest is left to the durable rows
   */
  async stop(boundMs: number): Promise<void> {
    for (const ticker of this.#tickers) clearInterval(ticker);
    await this.#timers.stop();
    await Promise.all([
      this.#watchers.stop(boundMs),
      this.#treasuries.stop(boundMs),
      this.#payments.stop(boundMs),
    ]);
    await this.merchants.stop(boundMs);
    await this.#deps.webhooks.stop();
  }

  /** Sets the timers of deposits that nobody watches. */
  async #watchDeposits(): Promise<void> {
    const unwatched = await readUnwatchedDeposits(this.#deps.sql, UNWATCHED_LIMIT);
    for (const { depositId, expiresAt } of unwatched) {
      this.#payments.tell(depositId, { type: "watch-expiry", expiresAt });
    }
  }

  #every(ms: number, work: () => void | Promise<void>): void {
    let busy = false;
    this.#tickers.push(setInterval(async () => {
      if (busy) return;
      busy = true;
      try {
        await work();
      } catch (error) {
        log.warn("cannot look around, trying again: {error}", { error });
      } finally {
        busy = false;
      }
    }, ms));
  }

  #announce(news: Committed): void {
    for (const merchantId of news.events) this.#deps.webhooks.wake(merchantId);
    for (const network of news.networks) this.#treasuries.tell(network, { type: "look" });
    for (const { depositId, expiresAt } of news.pendingDeposits) {
      this.#payments.tell(depositId, { type: "watch-expiry", expiresAt });
    }
  }

  #deliver(timer: DueTimer): void {
    if (timer.address.kind === "payment") {
      this.#payments.tell(timer.address.id, { type: "timer", name: timer.name });
    } else {
      log.error("a timer belongs to no kind of actor: {kind}/{id}", { ...timer.address });
    }
  }
}
