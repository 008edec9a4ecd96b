import { CURRENCIES } from "../../../ledger/money/pair.ts";
import { publicSources } from "../../../rates/public_sources.ts";
import type { RateSource } from "../../../rates/source.ts";
import type { Config } from "../../config/config.ts";
import { look, type RateSourceFacts } from "./facts.ts";

/** Bound of the question to each provider, milliseconds. */
const BOUND_MS = 6_000;

/** Asks every provider of exchange rates for one price; none in development, which has a fixed table. */
export async function seeRates(
  { environment }: Pick<Config, "environment">,
  sources: readonly RateSource[] = publicSources(),
): Promise<readonly RateSourceFacts[]> {
  if (environment === "development") return [];
  return await Promise.all(sources.map(async (source) => {
    const prices = source.prices ?? CURRENCIES;
    const dollars = await look(BOUND_MS, async (signal) => {
      const rate = (await source.read(prices[0] ?? "USDT", signal)).get("USD");
      if (rate === undefined) throw new Error("it names no price in dollars");
      return rate;
    });
    return { name: source.name, prices, dollars };
  }));
}
