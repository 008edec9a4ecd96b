/**
 * What a stablecoin is worth in the money of states.
 *
 * @module
 */

import type { Currency } from "../ledger/pair.ts";

/** The worth of one unit of a currency. */
export interface FiatRate {
  /** Fiat units per unit, a positive decimal string with at most 18 decimals. */
  readonly rate: string;
  /** When it was known, Unix milliseconds. */
  readonly at: number;
}

/** Rates at hand; asking costs nothing. */
export interface Rates {
  /**
   * The worth of a currency.
   *
   * @param fiat ISO 4217 code in capitals, for example `EUR`
   * @returns null where no rate is known that is fresh and agreed on
   */
  find(currency: Currency, fiat: string): FiatRate | null;
}

/** US dollars per unit of a currency; without a fresh rate a stablecoin counts as one. */
export function usdRate(rates: Rates, currency: Currency): string {
  return rates.find(currency, "USD")?.rate ?? "1";
}
