import type { Currency, Network } from "../../ledger/money/pair.ts";

/** How the addresses of one network are swept. */
export interface SweepTerms {
  /** True where new sweeps are begun; what is under way is always brought to its end. */
  readonly enabled: boolean;
  /** `auto`: energy is lent where the hot wallet has enough stake, otherwise coin is sent. */
  readonly gas: "auto" | "coin";
  /** An issued address is swept when it holds more than its cost times this, a decimal. */
  readonly factor: string;
  /** Top-ups that do not pay are swept when they were final for so long, milliseconds. */
  readonly topUpWaitMs: number;
}

/** How fast a network's sweeps move; derived from how long its transactions live. */
export interface SweepPace {
  /** A transfer that cannot be signed for so long is taken back and planned anew, milliseconds. */
  readonly staleMs: number;
  /** Pause after the first failures of an address, milliseconds. */
  readonly retryMs: number;
  /** Failures after which the address rests, and energy that was lent to it is taken back. */
  readonly failureLimit: number;
  /** Pause then, doubled with each further failure up to a day, milliseconds. */
  readonly restMs: number;
  /** Interval at which an address is looked at that waits for something, milliseconds. */
  readonly lookMs: number;
}

/** Units of a currency that one unit of the chain's coin is worth; null where nobody knows. */
export type CoinRate = (network: Network, currency: Currency) => string | null;
