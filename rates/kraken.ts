import { z } from "zod";
import { CURRENCIES } from "../ledger/money/pair.ts";
import { COINS, type Priced } from "./rates.ts";
import { readJson } from "./read_json.ts";
import { isFiat, rateOf, type RateSource, RateUnavailable } from "./source.ts";

/** Pairs that are traded; one unknown pair would make the whole request fail. */
const PAIRS: Readonly<Record<Priced, string>> = {
  USDT: "USDTUSD,USDTEUR,USDTGBP,USDTCAD,USDTAUD,USDTCHF,USDTJPY",
  USDC: "USDCUSD,USDCEUR,USDCGBP,USDCCAD,USDCAUD,USDCCHF",
  TRX: "TRXUSD,TRXEUR",
};

const Answer = z.object({
  error: z.array(z.string()),
  result: z.record(z.string(), z.object({ c: z.array(z.string()).min(1) })).optional(),
});

/**
 * Kraken: `GET /0/public/Ticker?pair=USDTUSD,...`; `c[0]` is the last trade's price, a string.
 * Answers name some pairs the older way, with a Z before the fiat code (`USDTZUSD`).
 * Source: docs.kraken.com, "Get ticker information".
 */
export function kraken(baseUrl = "https://api.kraken.com"): RateSource {
  return {
    name: "kraken",
    prices: [...CURRENCIES, ...COINS],
    read: async (priced, signal) => {
      const url = `${baseUrl}/0/public/Ticker?pair=${PAIRS[priced]}`;
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
          const code = pair.startsWith(priced) ? pair.slice(priced.length).slice(-3) : "";
          const rate = isFiat(code) ? rateOf(c[0] ?? "") : null;
          return rate === null ? [] : [[code, rate] as const];
        }),
      );
    },
  };
}
