/**
 * Dependencies and settings of a node's actors.
 *
 * @module
 */

import type { Sql } from "postgres";
import type { Chain } from "../chains/chain.ts";
import type { NodeState } from "../chains/node_state.ts";
import type { Signer } from "../chains/signer.ts";
import type { Currency, Network } from "../ledger/money/pair.ts";
import type { SweeperDeps } from "./sweeper/sweeper_actor.ts";
import type { TreasuryPolicy } from "./treasury/treasury_deps.ts";
import type { KeepDays } from "./upkeep.ts";
import type { ViewPace } from "./watcher/watcher_actor.ts";

export interface Webhooks {
  /** Says that a merchant has new events. */
  wake(merchantId: string): void;
  start(): void;
  stop(): Promise<void>;
}

/** Pace of the periodic work on one network. */
export interface Pace {
  /** Pause between two polls of a network, milliseconds. */
  readonly pollMs: number;
  /** Pauses between two looks at each view of the chain; without them every poll looks at both. */
  readonly views?: ViewPace;
  /** Time that another node waits for one that died while it was signing, milliseconds. */
  readonly leaseMs: number;
  /** Time that a signed transaction is left alone before it is sent again, milliseconds. */
  readonly resendMs: number;
  /** Pause between two checks of a pending deposit's expiry, milliseconds. */
  readonly recheckMs: number;
  /** After so many expired attempts a payout is given up and refunded. */
  readonly attemptLimit: number;
}

export interface EngineDeps {
  /** Pool for everything but the journal. */
  readonly sql: Sql;
  /** Pool of the journal, so that reads never wait in front of money. */
  readonly journalSql: Sql;
  readonly chains: ReadonlyMap<Network, Chain>;
  /** State of the nodes of a network; without it their calls are not counted. */
  readonly nodes?: (network: Network) => readonly NodeState[];
  readonly signer: Signer;
  /** Name of this node that outlives the process; without it every start is a new node. */
  readonly node?: string;
  readonly webhooks: Webhooks;
  readonly pace: (network: Network) => Pace;
  /** Pause between two looks for wake-ups that were lost, milliseconds; default 5,000. */
  readonly missedMs?: number;
  /** Derivation indexes per network that a change of the database's history jumps over; default 1,000. */
  readonly addressGap?: number;
  /** Days that old rows are kept; without it for ever. */
  readonly keepDays?: KeepDays;
  /** Unix milliseconds, for what is kept. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set, for pauses and deadlines; default `performance.now`. */
  readonly monotonic?: () => number;
  /** US dollars per unit of a currency. */
  readonly usdRate: (currency: Currency) => string;
  /** Terms of sweeps of deposit addresses; without it nothing is swept. */
  readonly sweeps?: Pick<SweeperDeps, "terms" | "pace" | "coinRate">;
  /** Settings of the treasury of a network; without it nothing is low, cold, or proven twice. */
  readonly treasuryPolicy?: (network: Network) => TreasuryPolicy;
  /** Units of a currency per coin of a network; without it costs are counted in the coin alone. */
  readonly coinRate?: (network: Network, currency: Currency) => string | null;
}
