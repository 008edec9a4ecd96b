import { Decimal } from "decimal.js";
import type { Currency, Network } from "../ledger/money/pair.ts";
import { coinOf } from "./coins.ts";
import { type FiatRate, type Rates, usdRate } from "./rates.ts";

const Exact = Decimal.clone({ precision: 60, toExpNeg: -60, toExpPos: 60 });

/**
 * The worth of a network's own coin in a stablecoin, by way of the dollar.
 *
 * @returns units of the currency per coin; null where no rate of the coin is fresh and agreed on
 */
export function coinRate(rates: Rates, network: Network, currency: Currency): FiatRate | null {
  const coin = coinOf(network);
  const dollars = coin === null ? null : rates.find(coin, "USD");
  if (dollars === null) return null;
  const rate = new Exact(dollars.rate).dividedBy(usdRate(rates, currency))
    .toDecimalPlaces(18, Decimal.ROUND_HALF_UP);
  return rate.isZero() ? null : { rate: rate.toFixed(), at: dollars.at };
}
