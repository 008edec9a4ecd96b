import type { Amount } from "../../ledger/money/amount.ts";
import type { Currency, OutgoingAsset } from "../../ledger/money/pair.ts";
import type { QueueHealth } from "../../ledger/treasury/read_queue_health.ts";

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
