import { z } from "zod";
import { CURRENCIES, type Currency } from "../ledger/money/pair.ts";
import { type Coin, COINS, isCoin } from "./coins.ts";
import { readJson } from "./read_json.ts";
import { isFiat, rateOf, type RateSource, RateUnavailable } from "./source.ts";

/** Pairs of stablecoins that are traded; one unknown pair would make the whole request fail. */
const PAIRS: Readonly<Record<Currency, string>> = {
  USDT: "USDTUSD,USDTEUR,USDTGBP,USDTCAD,USDTAUD,USDTCHF,USDTJPY",
  USDC: "USDCUSD,USDCEUR,USDCGBP,USDCCAD,USDCAUD,USDCCHF",
};

const Answer = z.object({
  error: z.array(z.string()),
  result: z.record(z.string(), z.object({ c: z.array(z.string()).min(1) })).optional(),
});

/**
 * Kraken: `GET /0/public/Ticker?pair=USDTUSD,...`; `c[0]` is the last trade's price, a string.
 * Answers name some pairs the older way, with an X before the coin and a Z before the fiat code (`USDTZUSD`,
 * `XETHZUSD`).
 * Source: docs.kraken.com, "Get ticker information".
 */
export function kraken(
  coins: readonly Coin[],
  baseUrl = "https://api.kraken.com",
): RateSource {
  return {
    name: "kraken",
    prices: [...CURRENCIES, ...coins],
    read: async (priced, signal) => {
      const pairs = isCoin(priced) ? COINS[priced].kraken : PAIRS[priced];
      const url = `${baseUrl}/0/public/Ticker?pair=${pairs}`;
      const answer = Answer.safeParse(await readJson(url, signal));
      if (!answer.success) {
        throw new RateUnavailable("Cannot read rates as kraken answered another shape");
      }
      const { error, result } = answer.data;
      if (error.length > 0 || result === undefined) {
        throw new RateUnavailable(`Cannot read rates as kraken reported: ${error.join(", ")}`);
      }
      return new Map(
        Object.entries(result).flatMap(([pair, { c }]) => {
          const name = pair.startsWith(`X${priced}`) ? pair.slice(1) : pair;
          const code = name.startsWith(priced) ? name.slice(priced.length).slice(-3) : "";
          const rate = isFiat(code) ? rateOf(c[0] ?? "") : null;
          return rate === null ? [] : [[code, rate] as const];
        }),
      );
    },
  };
}
