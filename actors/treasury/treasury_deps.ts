import type { Sql } from "postgres";
import type { Chain } from "../../chains/chain.ts";
import type { Signer } from "../../chains/signer.ts";
import type { Amount } from "../../ledger/money/amount.ts";
import type { Currency, Network, OutgoingAsset } from "../../ledger/money/pair.ts";
import type { QueueHealth } from "../../ledger/treasury/queue.ts";
import type { SecondOpinionPolicy } from "./second_opinion.ts";

/** Between which amounts the hot wallet's free funds are kept. */
export interface HotLevels {
  /** Above this the surplus goes to the cold wallet. */
  readonly ceiling: Amount;
  /** What is left then. */
  readonly target: Amount;
}

/** Where the hot wallet's surplus goes. */
export interface ColdPolicy {
  /** An address that is none of the service's own. */
  readonly address: string;
  /** Currencies without levels stay where they are. */
  readonly levels: ReadonlyMap<Currency, HotLevels>;
}

/** How the treasury of one network behaves. */
export interface TreasuryPolicy {
  /** Null: our own scan decides alone what is dead. */
  readonly second: SecondOpinionPolicy | null;
  /** Transfers to us of more than this, in any token, need a second node's word; null: none does. */
  readonly depositProofAbove?: Amount | null;
  /** Below this the hot wallet is low; `native` is the chain's own coin. */
  readonly low: Readonly<Record<Currency | "native", Amount>>;
  /** Null: nothing is moved to a cold wallet. */
  readonly cold: ColdPolicy | null;
}

/** What a hot wallet holds of one asset, and what of it is not promised to anybody. */
export interface Fund {
  readonly balance: Amount;
  /**
   * Balance less what is queued and what is signed and not final, of the chain's own coin also less
   * the most that those signed may take as fees; may be negative.
   */
  readonly free: Amount;
}

/** How a treasury stood when it last looked. */
export interface TreasuryStatus {
  /** The chain's own coin in the hot wallet; null: its balance cannot be read. */
  readonly coin: Fund | null;
  /** Its tokens, without those whose balance cannot be read. */
  readonly funds: ReadonlyMap<Currency, Fund>;
  /** Assets of the hot wallet whose balance cannot be read. */
  readonly unread: readonly OutgoingAsset[];
  /** What is low, for people: `USDT: 90 of at least 1000`. */
  readonly low: readonly string[];
  /** Expired transactions that a second node has not agreed on. */
  readonly unproven: number;
  /** When the oldest transfer was queued that is not signed yet, Unix milliseconds; null: none. */
  readonly oldestQueuedAt: number | null;
  /** How the queue of merchants' payouts stands. */
  readonly queue: QueueHealth;
  /** What issuers have switched, for people: `USDT: its issuer has paused all transfers`. */
  readonly tokens: readonly string[];
  /** Unix milliseconds. */
  readonly lookedAt: number;
}

/** What treasuries work with. */
export interface TreasuryDeps {
  readonly sql: Sql;
  readonly chains: ReadonlyMap<Network, Chain>;
  readonly signer: Signer;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set, for pauses; default `performance.now`. */
  readonly monotonic?: () => number;
  /** Name of this node; with one that outlives the process it goes on at once after a restart. */
  readonly node: string;
  /** How long only this node signs after a pull; the commit, not this, is the safety. */
  readonly leaseMs: number;
  /** How long a signed transaction is left alone before it is sent again. */
  readonly resendMs: number;
  /** After so many dead attempts a payout is given up and refunded. */
  readonly attemptLimit: number;
  readonly wakeMerchants: (merchantIds: ReadonlySet<string>) => void;
  /** Says that the funds are about to be looked at: what was promised before will be seen. */
  readonly onLook: (network: Network, currencies: readonly Currency[]) => void;
  /** What new withdrawals may count on; a hint, the queue waits for the rest. */
  readonly onLiquidity: (network: Network, liquidity: Liquidity) => void;
  /** Whether payouts of the network can be signed at all. */
  readonly onSignerState: (network: Network, open: boolean) => void;
  /** Why the scan of a network does not go on; without it it always does. */
  readonly scanStopped?: (network: Network) => string | null;
  /** How a network's treasury behaves; without it nothing is low, cold, or proven twice. */
  readonly policy?: (network: Network) => TreasuryPolicy;
  /** How a network's treasury stands. */
  readonly onStatus?: (network: Network, status: TreasuryStatus) => void;
  /** Units of a currency per coin; without it costs are counted in the coin alone. */
  readonly coinRate?: (network: Network, currency: Currency) => string | null;
}

/** What the hot wallet can still promise, per currency. */
export type Liquidity = ReadonlyMap<Currency, Amount>;
