/**
 * The worth of a stablecoin, and of a chain's own coin, in the money of states.
 *
 * @module
 */

import { PROFILES } from "../chains/profiles.ts";
import type { Currency, Network } from "../ledger/money/pair.ts";

/** Coins that transactions are paid in and that sources price. */
export const COINS = ["TRX"] as const;
/** One of {@linkcode COINS}. */
export type Coin = (typeof COINS)[number];

/** A currency or coin with a price. */
export type Priced = Currency | Coin;

/**
 * The coin that transactions of a network are paid in; null where no source prices it. A test
 * network's coin is worth nothing, so it is counted as the one it stands for.
 */
export function coinOf(network: Network): Coin | null {
  const { symbol } = PROFILES[network].coin;
  return COINS.find((coin) => coin === symbol) ?? null;
}

/** The worth of one unit of a currency. */
export interface FiatRate {
  /** Fiat units per unit, a positive decimal string with at most 18 decimals. */
  readonly rate: string;
  /** Time at which it was known, Unix milliseconds. */
  readonly at: number;
}

/** Rates at hand; asking costs nothing. */
export interface Rates {
  /**
   * The worth of a stablecoin or coin.
   *
   * @param fiat ISO 4217 code in capitals, for example `EUR`
   * @returns null where no rate is known that is fresh and agreed on
   */
  find(priced: Priced, fiat: string): FiatRate | null;
}

/** US dollars per unit of a currency; without a fresh rate a stablecoin counts as one. */
export function usdRate(rates: Rates, currency: Currency): string {
  return rates.find(currency, "USD")?.rate ?? "1";
}
