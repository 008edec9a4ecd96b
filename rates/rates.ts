/**
 * The worth of a stablecoin, and of a chain's own coin, in the money of states.
 *
 * @module
 */

import type { Currency } from "../ledger/money/pair.ts";
import type { Coin } from "./coins.ts";

/** A currency or coin with a price. */
export type Priced = Currency | Coin;

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
