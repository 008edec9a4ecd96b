import { z } from "zod";
import { readJson } from "./read_json.ts";
import { isFiat, rateOf, type RateSource, RateUnavailable } from "./source.ts";

const Answer = z.object({
  data: z.object({ currency: z.string(), rates: z.record(z.string(), z.string()) }),
});

/**
 * Coinbase: `GET /v2/exchange-rates?currency=USDT`, one table per currency, prices as strings.
 * Source: docs.cdp.coinbase.com, "Exchange rates".
 */
export function coinbase(baseUrl = "https://api.coinbase.com"): RateSource {
  return {
    name: "coinbase",
    read: async (priced, signal) => {
      const url = `${baseUrl}/v2/exchange-rates?currency=${priced}`;
      const answer = Answer.safeParse(await readJson(url, signal));
      if (!answer.success || answer.data.data.currency !== priced) {
        throw new RateUnavailable("Cannot read rates as coinbase answered another shape");
      }
      return new Map(
        Object.entries(answer.data.data.rates).flatMap(([code, text]) => {
          const rate = isFiat(code) ? rateOf(text) : null;
          return rate === null ? [] : [[code, rate] as const];
        }),
      );
    },
  };
}
