/**
 * One planner per network beside its treasury: it decides which addresses are worth sweeping and what
 * they need for it, and queues internal transfers; the treasury signs and sends them, the
 * watcher records how they end. It keeps nothing in memory that matters.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import { classifyDatabaseError } from "../../ledger/database/database_errors.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { type Amount, subtract, ZERO } from "../../ledger/money/amount.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { readReservedStake } from "../../ledger/sweeps/sweep_facts.ts";
import { readSweepHealth, type SweepHealth } from "../../ledger/sweeps/sweep_health.ts";
import {
  dueSweepAddresses,
  postpone,
  type SweepAddress,
  takeLateSweepAddresses,
} from "../../ledger/sweeps/sweep_addresses.ts";
import type { Actor, ActorKind } from "../runtime/actor.ts";
import { isAway } from "../runtime/is_away.ts";
import { planAddress, type PlanDeps } from "./plan_address.ts";
import { SweepSetup } from "./sweep_setup.ts";
import {
  type CoinRate,
  CostMemory,
  Stake,
  type SweepPace,
  type SweepTerms,
} from "./sweep_terms.ts";

/** Addresses of one turn; then the mailbox is looked at again. */
const TURN = 200;
/** Addresses read at once. */
const AT_ONCE = 8;
/** After so many addresses in a row that nodes did not answer for, they are taken to be away. */
const AWAY_AFTER = AT_ONCE;
/** The longest that an address is left alone which cannot be read. */
const LONGEST_MS = 10 * 60_000;
/** Interval at which the whole is counted, for health and metrics. */
const STATUS_MS = 15_000;
/** A turn begins no further address after this long. */
const TURN_MS = 10_000;

export interface SweeperMessage {
  readonly type: "poll";
}

export interface SweeperDeps {
  readonly sql: Sql;
  readonly chains: ReadonlyMap<Network, Chain>;
  readonly terms: (network: Network) => SweepTerms;
  readonly pace: (network: Network) => SweepPace;
  readonly coinRate: CoinRate;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly wakeMerchants: (merchantIds: ReadonlySet<string>) => void;
  /** Called when something was queued. */
  readonly onQueued: (network: Network) => void;
  /** Called with the state of a network's sweeps, now and then. */
  readonly onStatus: (network: Network, status: SweepHealth) => void;
}

/** The kind of actor that plans the sweeps of one network each. */
export function sweeperActors(deps: SweeperDeps): ActorKind<SweeperMessage> {
  return {
    name: "sweeper",
    mailboxCapacity: 4,
    idleMs: null,
    isTransient: isAway,
    activate: (id) => {
      const chain = [...deps.chains.values()].find(({ network }) => network === id);
      if (chain === undefined) throw new Error(`Cannot sweep a network as it is unknown: ${id}`);
      return Promise.resolve(new SweeperActor(chain, deps));
    },
  };
}

class SweeperActor implements Actor<SweeperMessage> {
  readonly #chain: Chain;
  readonly #deps: SweeperDeps;
  readonly #costs = new CostMemory();
  readonly #setup: SweepSetup;
  #statusAt = -Infinity;

  constructor(chain: Chain, deps: SweeperDeps) {
    this.#chain = chain;
    this.#deps = deps;
    this.#setup = new SweepSetup(chain);
  }

  async receive(_message: SweeperMessage): Promise<void> {
    const { sql, terms, onQueued } = this.#deps;
    const { network } = this.#chain;
    await this.#reportStatus();
    await takeLateSweepAddresses(sql, network);
    const due = await dueSweepAddresses(sql, network, TURN);
    if (due.length === 0) return;
    const pace = this.#deps.pace(network);
    const plan: PlanDeps = {
      ...this.#deps,
      chain: this.#chain,
      pace,
      terms: terms(network),
      costs: this.#costs,
      setup: this.#setup.look(sql, pace, onQueued),
    };
    const stake = new Stake(await this.#delegatableFor(due, plan.terms));
    const left = [...due];
    const end = performance.now() + TURN_MS;
    let queued = false;
    let silentInARow = 0;
    let silence: unknown = null;
    const work = async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        if (performance.now() > end || silentInARow >= AWAY_AFTER) return;
        try {
          queued = await planAddress(plan, next, stake) || queued;
          silentInARow = 0;
        } catch (error) {
          if (classifyDatabaseError(error) === "connection" && isAway(error)) throw error;
          // one address that a node cannot answer for, or that is odd, stops no other
          silentInARow = error instanceof ChainUnavailable ? silentInARow + 1 : 0;
          if (error instanceof ChainUnavailable) silence = error;
          this.#log(next, error);
          await this.#postpone(next, error);
        }
      }
    };
    const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
    if (queued) onQueued(network);
    for (const one of ends) if (one.status === "rejected") throw one.reason;
    // nodes that answer for none are away: the others are looked at when they are back
    if (silentInARow >= AWAY_AFTER) throw silence;
  }

  /** Counts the whole now and then; what keeps it from being counted keeps nothing from being swept. */
  async #reportStatus(): Promise<void> {
    if (performance.now() - this.#statusAt < STATUS_MS) return;
    const { sql, onStatus } = this.#deps;
    const { network } = this.#chain;
    this.#statusAt = performance.now();
    try {
      onStatus(network, await readSweepHealth(sql, network));
    } catch (error) {
      if (classifyDatabaseError(error) === "connection" && isAway(error)) throw error;
      logEvent("sweep.uncounted", { network, error });
    }
  }

  #log({ network, address, currency }: SweepAddress, error: unknown): void {
    logEvent(isAway(error) ? "sweep.address_waits" : "sweep.address_failed", {
      network,
      address,
      currency,
      error,
    });
  }

  async #postpone(target: SweepAddress, error: unknown): Promise<void> {
    const silence = error instanceof ChainUnavailable ? error.message : null;
    const pause = { firstMs: this.#deps.pace(this.#chain.network).pollMs, mostMs: LONGEST_MS };
    await postpone(this.#deps.sql, target, pause, silence);
  }

  /** Reads the stake; where no node answers, every address waits with that reason. */
  async #delegatableFor(due: readonly SweepAddress[], terms: SweepTerms): Promise<Amount> {
    try {
      return await this.#delegatable(terms);
    } catch (error) {
      for (const target of due) await this.#postpone(target, error);
      throw error;
    }
  }

  /** Stake that is not reserved; none where coin is sent anyway, or nothing has to be given. */
  async #delegatable(terms: SweepTerms): Promise<Amount> {
    const { gas } = this.#chain;
    if (gas === undefined || terms.gas === "coin") return ZERO;
    const [delegatable, reserved] = await Promise.all([
      gas.delegatable(),
      readReservedStake(this.#deps.sql, this.#chain.network),
    ]);
    return subtract(delegatable, reserved);
  }
}
