/**
 * The part of the port that tells the costs of transfers, and the needs of an address that pays for its own
 * transfer of tokens.
 *
 * @module
 */

import type { Amount } from "../ledger/money/amount.ts";
import type { Currency } from "../ledger/money/pair.ts";

/** Cost of one transfer. */
export interface FeeEstimate {
  /** Expected cost in the chain's own coin. */
  readonly fee: Amount;
  /** What the transaction is allowed to burn, in the chain's own coin, as its envelope says. */
  readonly limit: Amount;
  /** The most that it takes altogether, where more is taken than the limit bounds. */
  readonly atMost?: Amount;
  /**
   * What would reach the destination, as events of a node's simulation say; absent: the node told no
   * events, or nothing was simulated.
   */
  readonly arrives?: Amount;
}

/**
 * Means of an address for one transfer of its tokens, all in the chain's own coin: coin to burn, or energy
 * lent from stake, on chains where the address itself pays (`needsGasToSweep`).
 */
export interface SweepMeans {
  /** True if the chain knows the address: before that it sends nothing, and nothing can be lent to it. */
  readonly isActive: boolean;
  /** Coin it holds in solid blocks. */
  readonly coin: Amount;
  /** The transfer as if nothing were staked or free; its limit is what the transaction may burn. */
  readonly fee: FeeEstimate;
  /** Coin it would burn now, beyond what its energy and free bytes cover. */
  readonly burn: Amount;
  /** The same with room for what may change until it runs: what it should hold. */
  readonly burnAtMost: Amount;
  /** What it should hold when energy is lent to it. */
  readonly burnWithLoan: Amount;
  /** Stake to lend so that its energy suffices; zero: it suffices; null: this chain lends nothing. */
  readonly loan: Amount | null;
  /** What the whole sweep would cost us by sending coin first, activation included. */
  readonly costByCoin: Amount;
  /** The same by lending and taking back. */
  readonly costByLoan: Amount;
}

/** Reading what sweeps need. Throws `ChainUnavailable` where nothing is known. */
export interface GasPort {
  /**
   * What one transfer of tokens off an address needs.
   *
   * @throws {ChainUnavailable} `reverted` when the transfer would fail as things stand
   */
  means(
    transfer: {
      readonly from: string;
      readonly to: string;
      readonly currency: Currency;
      readonly amount: Amount;
    },
    signal?: AbortSignal,
  ): Promise<SweepMeans>;
  /** Stake of the hot wallet that can be lent now. */
  lendable(signal?: AbortSignal): Promise<Amount>;
  /** Stake of the hot wallet that is lent to an address, in solid blocks. */
  lentTo(address: string, signal?: AbortSignal): Promise<Amount>;
}
