import { binance } from "./binance.ts";
import { coinGecko } from "./coingecko.ts";
import { coinbase } from "./coinbase.ts";
import { kraken } from "./kraken.ts";
import type { RateSource } from "./source.ts";

/** The sources that rates come from outside development. */
export function publicSources(): readonly RateSource[] {
  return [coinbase(), kraken(), coinGecko(), binance()];
}
