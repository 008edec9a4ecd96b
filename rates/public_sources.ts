import { binance } from "./binance.ts";
import { coinGecko } from "./coingecko.ts";
import { coinbase } from "./coinbase.ts";
import type { Coin } from "./coins.ts";
import { kraken } from "./kraken.ts";
import type { RateSource } from "./source.ts";

/**
 * The sources that rates come from outside development.
 *
 * @param coins that they are asked for beside the stablecoins
 */
export function publicSources(coins: readonly Coin[]): readonly RateSource[] {
  return [coinbase(), kraken(coins), coinGecko(coins), binance(coins)];
}
