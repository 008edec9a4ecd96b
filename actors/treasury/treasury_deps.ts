import type { Sql } from "postgres";
import type { Chain } from "../../chains/chain.ts";
import type { Signer } from "../../chains/signer.ts";
import type { Amount } from "../../ledger/money/amount.ts";
import type { Currency, Network, OutgoingAsset } from "../../ledger/money/pair.ts";
import type { QueueHealth } from "../../ledger/treasury/queue.ts";
import type { BoundOf } from "./internal_time.ts";
import type { LaneState } from "./lane_state.ts";
import type { SecondOpinionPolicy } from "./second_opinion.ts";

/** Bounds of the hot wallet's free funds. */
export interface HotLevels {
  /** Above this the surplus goes to the cold wallet. */
  readonly ceiling: Amount;
  /** The balance then. */
  readonly target: Amount;
}

/** Destination of the hot wallet's surplus. */
export interface ColdPolicy {
  /** An address that is none of the service's own. */
  readonly address: string;
  /** Currencies without levels stay where they are. */
  readonly levels: ReadonlyMap<Currency, HotLevels>;
}

/** Settings of the treasury of one network. */
export interface TreasuryPolicy {
  /** Null: the own scan decides alone what is dead. */
  readonly second: SecondOpinionPolicy | null;
  /** Transfers to us of more than this, in any token, need a second node's word; null: none does. */
  readonly depositProofAbove?: Amount | null;
  /** Time for which a hold lasts at least where wallets number their transactions, milliseconds; default a minute. */
  readonly tellingMs?: number;
  /** More coin than this for all transactions of a day gives an alarm; null: none does. */
  readonly feesPerDay?: Amount | null;
  /** Below this the hot wallet is low; `native` is the chain's own coin. */
  readonly low: Readonly<Record<Currency | "native", Amount>>;
  /** Null: nothing is moved to a cold wallet. */
  readonly cold: ColdPolicy | null;
}

/** Balance of a hot wallet in one asset, and its part that is not reserved. */
export interface Fund {
  readonly balance: Amount;
  /**
   * Balance less what is queued and what is signed and not final, of the chain's own coin also less
   * the most that those signed may take as fees; may be negative.
   */
  readonly free: Amount;
}

/** State of a treasury at its last poll. */
export interface TreasuryStatus {
  /** The chain's own coin in the hot wallet; null: its balance cannot be read. */
  readonly coin: Fund | null;
  /** Its tokens, without those whose balance cannot be read. */
  readonly funds: ReadonlyMap<Currency, Fund>;
  /** Assets of the hot wallet whose balance cannot be read. */
  readonly unreadable: readonly OutgoingAsset[];
  /** Low assets, for people: `USDT: 90 of at least 1000`. */
  readonly low: readonly string[];
  /** Coin that transactions have burned as fees today, by the database's day (UTC). */
  readonly feesToday: Amount;
  /** See {@linkcode TreasuryPolicy.feesPerDay}. */
  readonly feesPerDay: Amount | null;
  /** Transactions that have expired or failed and that a second node has not agreed on. */
  readonly withoutExpiryProof: number;
  /** Nonces under way; null on chains that count none. */
  readonly lane: LaneState | null;
  /** Begin of the oldest transfer's wait that is not signed yet, Unix milliseconds; null: none waits. */
  readonly oldestQueuedAt: number | null;
  /** Queue of merchants' payouts. */
  readonly queue: QueueHealth;
  /** Switches of issuers, for people: `USDT: its issuer has paused all transfers`. */
  readonly tokens: readonly string[];
  /** Unix milliseconds. */
  readonly lookedAt: number;
}

/** Pace of the treasury of one network. */
export interface TreasuryPace {
  /** Pause between two polls; default a second. */
  readonly pollMs?: number;
  /** Time for which only this node signs after a pull; the commit, not this, is the safety. */
  readonly leaseMs: number;
  /** Time for which a signed transaction is left alone before it is sent again. */
  readonly resendMs: number;
  /** After so many dead attempts a payout is given up and refunded. */
  readonly attemptLimit: number;
}

/** Dependencies of the treasuries of all networks. */
export interface TreasuriesDeps extends Omit<TreasuryDeps, keyof TreasuryPace> {
  readonly pace: (network: Network) => TreasuryPace;
}

export interface TreasuryDeps extends TreasuryPace {
  readonly sql: Sql;
  readonly chains: ReadonlyMap<Network, Chain>;
  readonly signer: Signer;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set, for pauses; default `performance.now`. */
  readonly monotonic?: () => number;
  /** Makes the bounds of internal transfers; default by the system's timers. */
  readonly boundOf?: BoundOf;
  /** Name of this node; with one that outlives the process it continues at once after a restart. */
  readonly node: string;
  readonly wakeMerchants: (merchantIds: ReadonlySet<string>) => void;
  /** Called before the funds are read: the figures will contain earlier reservations. */
  readonly onLook: (network: Network, currencies: readonly Currency[]) => void;
  /** Called with the liquidity for new withdrawals; a hint, the queue waits for the rest. */
  readonly onLiquidity: (network: Network, liquidity: Liquidity) => void;
  /** Called with true where payouts of the network can be signed at all. */
  readonly onSignerState: (network: Network, open: boolean) => void;
  /** Reason for which the scan of a network is halted; null, or no function: it is not. */
  readonly scanStopped?: (network: Network) => string | null;
  /**
   * Height that the solid cursor has to have reached before anything is signed for a network; null: not known yet, so that
   * nothing is. No function: nothing is waited for.
   */
  readonly signsFrom?: (network: Network) => number | null;
  /**
   * False where nothing that was pulled may be signed for a network after all: so few batches were signed before it that the
   * database was set back since the last look. No function: all may.
   */
  readonly maySign?: (network: Network, batches: bigint) => boolean;
  /** False while the newest blocks of a network are not read, by this service; no function: they are. */
  readonly isHeadRead?: (network: Network) => boolean;
  /** True while the newest blocks of a network are left out on purpose, by this service; no function: they are not. */
  readonly isHeadLeftOut?: (network: Network) => boolean;
  /** Settings of a network; without them nothing is low, cold, or proven twice. */
  readonly policy?: (network: Network) => TreasuryPolicy;
  /** Called with a network's state after each poll. */
  readonly onStatus?: (network: Network, status: TreasuryStatus) => void;
  /** Units of a currency per coin; without it costs are counted in the coin alone. */
  readonly coinRate?: (network: Network, currency: Currency) => string | null;
}

/** Liquidity of the hot wallet, per currency. */
export type Liquidity = ReadonlyMap<Currency, Amount>;
