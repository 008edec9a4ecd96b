/**
 * One public source of rates.
 *
 * @module
 */

import { Decimal } from "decimal.js";
import type { Priced } from "./rates.ts";

const Exact = Decimal.clone({ precision: 60, toExpNeg: -60, toExpPos: 60 });

/** Rates of one currency by ISO 4217 code; each a positive decimal string. */
export type RateTable = ReadonlyMap<string, string>;

/** A source over HTTP. */
export interface RateSource {
  readonly name: string;
  /** Currencies and coins it is asked for; the stablecoins alone where absent. */
  readonly prices?: readonly Priced[];
  /**
   * Everything the source says about a stablecoin or coin.
   *
   * @throws {RateUnavailable} when it does not answer, or answers something else than rates
   */
  read(priced: Priced, signal: AbortSignal): Promise<RateTable>;
}

/** A source gave no rates; the others may. */
export class RateUnavailable extends Error {
  override name = "RateUnavailable";
}

const NUMBER = /^\d{1,40}(?:\.\d{1,60})?(?:[eE][+-]?\d{1,2})?$/;
const LARGEST = new Exact("1e20");

/**
 * Canonical form of a rate as a source writes it.
 *
 * @param text JSON text of a number, or the content of a string
 * @returns null where it is not a positive number of a size that makes sense
 */
export function rateOf(text: string): string | null {
  if (!NUMBER.test(text)) return null;
  const value = new Exact(text).toDecimalPlaces(18, Decimal.ROUND_HALF_UP);
  return value.isPositive() && !value.isZero() && value.lessThan(LARGEST) ? value.toFixed() : null;
}

const FIAT_CODES: ReadonlySet<string> = new Set(
  // of ISO 4217 since 2018, which the runtime's list does not have yet
  [...Intl.supportedValuesOf("currency"), "SLE", "VED", "XCG", "ZWG"].filter((code) =>
    // X codes are metals, funds and tests, but for five currencies shared by several states
    !code.startsWith("X") || ["XAF", "XCD", "XCG", "XOF", "XPF"].includes(code)
  ),
);

/** True if a code is the money of a state; sources mix other coins in. */
export function isFiat(code: string): boolean {
  return FIAT_CODES.has(code);
}
