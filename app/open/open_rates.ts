import type { Config } from "../config/config.ts";
import { binance } from "../../rates/binance.ts";
import { coinbase } from "../../rates/coinbase.ts";
import { coinGecko } from "../../rates/coingecko.ts";
import { fixedRates } from "../../rates/fixed_rates.ts";
import { kraken } from "../../rates/kraken.ts";
import { RateBoard } from "../../rates/rate_board.ts";
import type { Rates } from "../../rates/rates.ts";

/** Rates, and what ends reading them. */
export interface OpenRates {
  readonly rates: Rates;
  close(): Promise<void>;
}

/** Rates of public sources; in development a fixed table, which needs no network. */
export function openRates(config: Config, now: () => number): OpenRates {
  if (config.environment === "development") {
    return { rates: fixedRates(now), close: () => Promise.resolve() };
  }
  const board = new RateBoard({ sources: [coinbase(), kraken(), coinGecko(), binance()], now });
  board.start();
  return { rates: board, close: () => board.stop() };
}
