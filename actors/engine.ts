/**
 * The actors of one node, wired to each other. Every message between them is a wake-up; what
 * has to survive is in the database, so starting again after any death is just starting.
 *
 * @module
 */

import { logEvent } from "../log/log_event.ts";
import type { NodeState } from "../chains/node_state.ts";
import { createJournalStore } from "../ledger/journal/store.ts";
import type { Amount } from "../ledger/money/amount.ts";
import type { Currency, Network } from "../ledger/money/pair.ts";
import type { SweepHealth } from "../ledger/sweeps/sweep_health.ts";
import type { AwaitedProofFigures } from "../ledger/watcher/deposit_proofs.ts";
import type { EngineDeps } from "./engine_deps.ts";
import { AddressBook } from "./addresses/address_book.ts";
import { AcknowledgedCommits, remembering } from "./failover/acknowledged_commits.ts";
import { HistoryWatch } from "./failover/history_watch.ts";
import type { Committed } from "./journal/context.ts";
import { Journal } from "./journal/journal.ts";
import { logMove, MoveCounts } from "./journal/payment_moves.ts";
import { Payments } from "./payment/payment_actor.ts";
import { Actors } from "./runtime/actor.ts";
import { Periodic, type PeriodicState } from "./runtime/periodic.ts";
import { sweeperActors } from "./sweeper/sweeper_actor.ts";
import { HotLiquidity } from "./treasury/liquidity.ts";
import { treasuryActors } from "./treasury/treasury_actor.ts";
import type { TreasuryStatus } from "./treasury/treasury_deps.ts";
import { DepositProver } from "./watcher/deposit_prover.ts";
import { Upkeep } from "./upkeep.ts";
import { isBehindSigning, leavesHeadOut, type WatcherStatus } from "./watcher/scan_memory.ts";
import { watcherActors } from "./watcher/watcher_actor.ts";

/** Pause between two polls of inboxes and pending deposits, for wake-ups that were lost. */
const MISSED_MS = 5_000;
/** Pause between two looks for deposits that are due to be checked, at most; milliseconds. */
const IDLE_RECHECK_MS = 15_000;
/** Pause between two polls for large deposits that need proof by a second node, milliseconds. */
const PROVE_MS = 1_000;
/** Pause between two comparisons of the database's history; statements that sign compare it themselves. */
const HISTORY_MS = 1_000;

/** A running node. */
export class Engine {
  readonly merchants: Journal;
  readonly addressBook: AddressBook;
  /** Which history the database continues. */
  readonly history: HistoryWatch;
  /** State of each network's treasury as of its last poll; none that could not poll yet. */
  readonly treasuries = new Map<Network, TreasuryStatus>();
  /** Progress of each network's scan; none that was never reached. */
  readonly watched = new Map<Network, WatcherStatus>();
  /** State of each network's sweeps; none that was not polled yet. */
  readonly sweeps = new Map<Network, SweepHealth>();
  /** Moves of payments that this node has committed. */
  readonly paymentMoves = new MoveCounts();
  readonly #deps: EngineDeps;
  readonly #payments: Payments;
  readonly #treasuries;
  readonly #sweepers;
  readonly #watchers;
  readonly #headViews;
  readonly #liquidity = new HotLiquidity();
  readonly #signerOpen = new Map<Network, boolean>();
  readonly #provers: ReadonlyMap<Network, DepositProver>;
  readonly #upkeep: Upkeep;
  /** True once the rows that were quarantined as broken have been given back for a second try. */
  #hasRetried = false;
  readonly #periodic: Periodic;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    const { sql, chains, now, pace } = deps;
    const monotonic = deps.monotonic ?? (() => performance.now());
    this.#periodic = new Periodic(monotonic);
    this.#upkeep = new Upkeep(sql, deps.keepDays);
    const acknowledged = new AcknowledgedCommits(now, monotonic);
    this.merchants = new Journal({
      store: remembering(createJournalStore(deps.journalSql), acknowledged),
      now,
      monotonic,
      usdRate: deps.usdRate,
      onCommitted: (news) => this.#announce(news),
      liquidity: (network, currency) => this.liquidity(network, currency),
      holdsRefunds: (network, readBatches) => holdsRefunds(network, readBatches),
    });
    this.addressBook = new AddressBook(sql, chains);
    this.history = new HistoryWatch({
      sql,
      chains,
      acknowledged,
      highestIndexes: () => this.addressBook.highest,
      dropCaches: () => this.dropCaches(),
      ...(deps.addressGap === undefined ? {} : { gap: deps.addressGap }),
    });
    const wakeMerchants = (merchantIds: ReadonlySet<string>) => {
      for (const merchantId of merchantIds) this.merchants.wake(merchantId);
    };
    const wakeMerchant = (merchantId: string) => this.merchants.wake(merchantId);
    this.#payments = new Payments({
      sql,
      now,
      recheckMs: (network) => pace(network).recheckMs,
      wakeMerchant,
    });
    this.#treasuries = new Actors(treasuryActors({
      sql,
      chains,
      signer: deps.signer,
      now,
      monotonic,
      node: deps.node ?? crypto.randomUUID(),
      pace,
      wakeMerchants,
      onLook: (network, currencies) => this.#liquidity.begin(network, currencies),
      onLiquidity: (network, liquidity) => this.#liquidity.end(network, liquidity),
      onSignerState: (network, open) => this.#signerOpen.set(network, open),
      scanStopped: (network) => this.watched.get(network)?.stopped ?? null,
      signsFrom: (network) => {
        const status = this.watched.get(network);
        return status?.comparison === "over" ? status.signsFrom : null;
      },
      maySign: (network, batches) => maySign(network, batches),
      isHeadRead: (network) => this.watched.get(network)?.isHeadRead ?? false,
      isHeadLeftOut: (network) => {
        const status = this.watched.get(network);
        return status !== undefined && leavesHeadOut(status);
      },
      onStatus: (network, status) => this.treasuries.set(network, status),
      ...(deps.treasuryPolicy === undefined ? {} : { policy: deps.treasuryPolicy }),
      ...(deps.coinRate === undefined ? {} : { coinRate: deps.coinRate }),
    }));
    this.#sweepers = deps.sweeps === undefined ? null : new Actors(sweeperActors({
      sql,
      chains,
      now,
      ...deps.sweeps,
      wakeMerchants,
      onQueued: (network) => this.#treasuries.tell(network, { type: "poll" }),
      onStatus: (network, status) => this.sweeps.set(network, status),
    }));
    this.#provers = new Map([...chains].map(([network, chain]) => [
      network,
      new DepositProver({
        sql,
        chain,
        nodes: deps.treasuryPolicy?.(network).second?.nodes ?? [],
        above: deps.treasuryPolicy?.(network).depositProofAbove,
        now,
        wake: wakeMerchant,
      }),
    ]));
    const { solid, head, maySign, holdsRefunds } = watcherActors({
      sql,
      chains,
      now,
      monotonic,
      wakeMerchants,
      onSolid: (network) => {
        this.#treasuries.tell(network, { type: "poll" });
        this.#sweepers?.tell(network, { type: "poll" });
      },
      onStatus: (network, status) => {
        const wasBehind = isBehindSigning(this.watched.get(network));
        this.watched.set(network, status);
        // what is queued waits for no poll of its own
        if (wasBehind && !isBehindSigning(status)) {
          this.#treasuries.tell(network, { type: "poll" });
        }
      },
      proofAbove: (network) => deps.treasuryPolicy?.(network).second?.above ?? null,
      nodes: (network) => this.nodes(network),
      views: (network) => pace(network).views,
      again: (network) => this.#watchers.tell(network, { type: "tick" }),
    });
    this.#watchers = new Actors(solid);
    this.#headViews = new Actors(head);
  }

  /**
   * Has merchants and settings read again before anything more is decided on them: for when the
   * history of the database may have changed, as after a failover. Safe at any moment.
   */
  dropCaches(): void {
    this.merchants.dropCaches();
    this.addressBook.dropCaches();
  }

  /** Amount that the hot wallet can still pay; null where it is not known. */
  liquidity(network: Network, currency: Currency): Amount | null {
    return this.#liquidity.left(network, currency);
  }

  /** True where payouts of a network can be signed, as far as is known. */
  signerOpen(network: Network): boolean {
    return this.#signerOpen.get(network) ?? true;
  }

  /** Networks that this node serves. */
  get networks(): readonly Network[] {
    return [...this.#deps.chains.keys()];
  }

  /** Currencies whose token contract on a network is configured. */
  currencies(network: Network): readonly Currency[] {
    return this.#deps.chains.get(network)?.capabilities.currencies ?? [];
  }

  /** Large deposits of a network that a second node has not proven, as of the last poll. */
  depositsAwaitingProof(network: Network): AwaitedProofFigures | null {
    return this.#provers.get(network)?.figures ?? null;
  }

  /** State of the nodes of a network; empty where it is not counted. */
  nodes(network: Network): readonly NodeState[] {
    return this.#deps.nodes?.(network) ?? [];
  }

  /** Figures for metrics. */
  get figures() {
    return {
      journal: this.merchants.figures,
      payments: this.#payments.actors.figures,
      treasuries: this.#treasuries.figures,
      sweepers: this.#sweepers?.figures ?? { active: 0, quarantined: 0 },
      watchers: this.#watchers.figures,
      headViews: this.#headViews.figures,
    };
  }

  /** State of each piece of periodic work. */
  get periodic(): readonly PeriodicState[] {
    return this.#periodic.states;
  }

  /** Actors that have handled one message for longer than that, milliseconds. */
  busyFor(longerThanMs: number): readonly { readonly actor: string; readonly ms: number }[] {
    const { actors } = this.#payments;
    const kinds = [actors, this.#treasuries, this.#sweepers, this.#watchers, this.#headViews];
    return kinds.flatMap((actors) =>
      (actors?.busyFor(longerThanMs) ?? []).map(({ id, ms }) => ({
        actor: `${actors?.kind.name}/${id}`,
        ms,
      }))
    );
  }

  /** Timers that cannot be delivered, and kept times that a wrong clock had put off. */
  get timeFigures(): { readonly brokenTimers: number; readonly boundedTimes: number } {
    return { brokenTimers: this.#payments.brokenTimers, boundedTimes: this.#upkeep.boundedTimes };
  }

  /** Takes up everything that is in flight and starts to poll. */
  async start(): Promise<void> {
    await this.history.poll();
    await this.addressBook.look();
    await this.merchants.settings();
    await this.#wakeMerchants();
    await this.#payments.watchMissed();
    // one look serves the deposits of all networks; each of them waits at its own network's pace
    const rechecks = this.networks.map((network) => this.#deps.pace(network).recheckMs);
    this.#payments.start(Math.min(IDLE_RECHECK_MS, ...rechecks));
    this.#deps.webhooks.start();
    const poll = (network: Network) => {
      this.#watchers.tell(network, { type: "tick" });
      this.#headViews.tell(network, { type: "tick" });
      this.#treasuries.tell(network, { type: "poll" });
      this.#sweepers?.tell(network, { type: "poll" });
    };
    const { chains, pace, missedMs = MISSED_MS } = this.#deps;
    const tasks = this.#periodic;
    for (const network of chains.keys()) {
      poll(network);
      tasks.every(`poll ${network}`, pace(network).pollMs, () => poll(network));
    }
    tasks.every("compare history", HISTORY_MS, () => this.history.poll());
    tasks.every("look at address numbers", HISTORY_MS, () => this.addressBook.look());
    tasks.every("watch lost addresses", HISTORY_MS, () => this.addressBook.watchSkipped());
    for (const [network, prover] of this.#provers) {
      tasks.every(`prove large deposits of ${network}`, PROVE_MS, () => prover.poll());
    }
    tasks.every("wake merchants", missedMs, () => this.merchants.wakeAll());
    tasks.every("retry broken rows", missedMs, () => this.#retryBroken());
    tasks.every("watch deposits", missedMs, () => this.#payments.watchMissed());
    this.#upkeep.start(tasks);
  }

  /**
   * Stops taking messages and finishes those at hand.
   *
   * @param boundMs after this long the rest is left to the durable rows
   */
  async stop(boundMs: number): Promise<void> {
    this.#periodic.stop();
    await this.#payments.stopTimers();
    await Promise.all([
      this.#watchers.stop(boundMs),
      this.#headViews.stop(boundMs),
      this.#treasuries.stop(boundMs),
      this.#sweepers?.stop(boundMs),
      this.#payments.actors.stop(boundMs),
    ]);
    await this.merchants.stop(boundMs);
    await this.#deps.webhooks.stop();
  }

  /** Wakes merchants at the start: what fails is done again by the periodic work, and stops no node. */
  async #wakeMerchants(): Promise<void> {
    for (const work of [() => this.#retryBroken(), () => this.merchants.wakeAll()]) {
      try {
        await work();
      } catch (error) {
        logEvent("journal.wake_failed", { error });
      }
    }
  }

  async #retryBroken(): Promise<void> {
    if (this.#hasRetried) return;
    await this.merchants.retryBroken();
    this.#hasRetried = true;
  }

  #announce(news: Committed): void {
    for (const move of news.moves) {
      this.paymentMoves.add(move);
      logMove(move);
    }
    this.#liquidity.reserved(news.reservations);
    for (const merchantId of news.events) this.#deps.webhooks.wake(merchantId);
    for (const network of news.networks) this.#treasuries.tell(network, { type: "poll" });
    this.#payments.watch(news.pendingDeposits);
  }
}
