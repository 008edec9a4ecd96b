import { COINS, isCoin } from "./coins.ts";
import type { Rates } from "./rates.ts";

/** Fiat units per US dollar, roughly; what development works with. */
const PER_DOLLAR: Readonly<Record<string, string>> = {
  USD: "1",
  AED: "3.6725",
  ARS: "1350",
  AUD: "1.53",
  BRL: "5.4",
  CAD: "1.38",
  CHF: "0.8",
  CNY: "7.15",
  CZK: "21",
  DKK: "6.4",
  EUR: "0.86",
  GBP: "0.74",
  HKD: "7.8",
  HUF: "340",
  IDR: "16300",
  ILS: "3.4",
  INR: "87.5",
  JPY: "148",
  KRW: "1390",
  KWD: "0.3055",
  MXN: "18.7",
  MYR: "4.22",
  NGN: "1535",
  NOK: "10.1",
  NZD: "1.69",
  PHP: "57",
  PKR: "282",
  PLN: "3.65",
  RUB: "80",
  SAR: "3.75",
  SEK: "9.55",
  SGD: "1.285",
  THB: "32.4",
  TRY: "40.8",
  TWD: "30",
  UAH: "41.4",
  VND: "26250",
  ZAR: "17.6",
};

/**
 * A table that never changes, for development and tests: a stablecoin is worth one US dollar, a
 * chain's coin is priced in dollars alone.
 *
 * @param now Unix milliseconds
 */
export function fixedRates(now: () => number): Rates {
  return {
    find: (priced, fiat) => {
      if (isCoin(priced)) {
        return fiat === "USD" ? { rate: COINS[priced].dollars, at: now() } : null;
      }
      const rate = Object.hasOwn(PER_DOLLAR, fiat) ? PER_DOLLAR[fiat] : undefined;
      return rate === undefined ? null : { rate, at: now() };
    },
  };
}
