/**
 * The part of the port that tells the costs of transfers, and the needs of an address that pays for its own
 * transfer of tokens.
 *
 * @module
 */

import type { Amount } from "../ledger/money/amount.ts";
import type { Currency } from "../ledger/money/pair.ts";

/** An asset that a wallet can hold and send: a token, or the chain's own coin. */
export type Asset = Currency | "native";

/** One intent as its transaction moves it. */
export interface Movement {
  readonly from: string;
  /** Of tokens, the sender itself stands for any address that holds some. */
  readonly to: string;
  readonly asset: Asset;
  readonly amount: Amount;
  /** True if it delegates stake, or undelegates it, instead of moving the coin. */
  readonly isDelegation?: boolean;
}

/** Cost of one transaction. */
export interface FeeEstimate {
  /** Expected cost in the chain's own coin. */
  readonly fee: Amount;
  /**
   * Of one movement: its part of the expected cost where it shares a transaction with as many as that can carry; absent: it
   * never shares one.
   */
  readonly share?: Amount;
  /** The most that the transaction may burn, in the chain's own coin, as its envelope says. */
  readonly limit: Amount;
  /** The most that it takes altogether, where more is taken than the limit bounds. */
  readonly atMost?: Amount;
  /**
   * Amount that would reach the destination, as events of a node's simulation say; absent: the node gave
   * no events, or nothing was simulated.
   */
  readonly arrives?: Amount;
  /** The adapter's own terms, JSON-safe, which its envelope takes over; absent: there are none. */
  readonly terms?: Readonly<Record<string, string | number>>;
}

/**
 * Costs of one transfer of tokens off an address, all in the chain's own coin: coin to burn, or energy
 * delegated from stake, on chains where the address itself pays.
 */
export interface SweepCosts {
  /** True if the chain knows the address: before that it sends nothing, and nothing can be delegated to it. */
  readonly isActive: boolean;
  /** Coin it holds in solid blocks. */
  readonly coin: Amount;
  /** The transfer as if nothing were staked or free; its limit is what the transaction may burn. */
  readonly fee: FeeEstimate;
  /** Coin that it has to hold for it now, beyond what its energy and free bytes cover. */
  readonly cost: Amount;
  /** Coin with which it is sent: no less than `cost`, and where prices move less than it is given. */
  readonly enough: Amount;
  /** The cost with room for changes until it runs: coin that it is given. */
  readonly costAtMost: Amount;
  /** Coin that it should hold when energy is delegated to it. */
  readonly costDelegated: Amount;
  /** Stake to delegate so that its energy suffices; zero: it suffices; null: the chain has no such thing. */
  readonly stakeNeeded: Amount | null;
  /** Cost of the whole sweep by sending coin first, activation included. */
  readonly costByCoin: Amount;
  /** The same by delegating and undelegating. */
  readonly costByDelegation: Amount;
}

/** Reading what sweeps need. Throws `ChainUnavailable` where nothing is known. */
export interface GasPort {
  /**
   * Reads the needs of one transfer of tokens off an address.
   *
   * @throws {ChainUnavailable} `reverted` when the transfer would fail as things stand
   */
  sweepCosts(
    transfer: {
      readonly from: string;
      readonly to: string;
      readonly currency: Currency;
      readonly amount: Amount;
    },
    signal?: AbortSignal,
  ): Promise<SweepCosts>;
  /** Stake of the hot wallet that can be delegated now. */
  delegatable(signal?: AbortSignal): Promise<Amount>;
  /** Stake of the hot wallet that is delegated to an address, in solid blocks. */
  delegatedTo(address: string, signal?: AbortSignal): Promise<Amount>;
}

/**
 * The needs of sweeps on a chain whose addresses pay for their own.
 *
 * @throws where the hot wallet pays: nothing is ever given to an address there
 */
export function gasOf({ gas }: { readonly gas?: GasPort }): GasPort {
  if (gas !== undefined) return gas;
  throw new Error(
    "Cannot give an address anything for its transfers as the hot wallet pays for them",
  );
}
