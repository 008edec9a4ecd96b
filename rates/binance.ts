import { z } from "zod";
import type { Coin } from "./coins.ts";
import { readJson } from "./read_json.ts";
import { rateOf, type RateSource, RateUnavailable } from "./source.ts";

const Answer = z.object({ symbol: z.string(), price: z.string() });

/**
 * Binance: `GET /api/v3/ticker/price?symbol=TRXUSDT`, the last price in USDT. It counts as dollars:
 * should USDT be worth another sum, this quote is too far from the others' to count.
 * Source: developers.binance.com, "Symbol price ticker".
 */
export function binance(
  coins: readonly Coin[],
  baseUrl = "https://api.binance.com",
): RateSource {
  return {
    name: "binance",
    prices: coins,
    read: async (priced, signal) => {
      const symbol = `${priced}USDT`;
      const url = `${baseUrl}/api/v3/ticker/price?symbol=${symbol}`;
      const answer = Answer.safeParse(await readJson(url, signal));
      const rate = answer.success && answer.data.symbol === symbol
        ? rateOf(answer.data.price)
        : null;
      if (rate === null) {
        throw new RateUnavailable("Cannot read rates as binance answered another shape");
      }
      return new Map([["USD", rate]]);
    },
  };
}
