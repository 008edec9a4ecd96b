import { CURRENCIES } from "../../../ledger/money/pair.ts";
import { coinsOf } from "../../../rates/coins.ts";
import { publicSources } from "../../../rates/public_sources.ts";
import type { RateSource } from "../../../rates/source.ts";
import type { Config } from "../../config/config.ts";
import { openNetworks } from "./judge_chains.ts";
import { look, type RateSourceFacts } from "./facts.ts";

/** Bound of the question to each provider, milliseconds. */
const BOUND_MS = 6_000;

/** Asks every provider of exchange rates for one price; none in development, which has a fixed table. */
export async function seeRates(
  config: Pick<Config, "environment" | "networks">,
  sources: readonly RateSource[] = publicSources(coinsOf(openNetworks(config))),
): Promise<readonly RateSourceFacts[]> {
  if (config.environment === "development") return [];
  const asked = sources.filter(({ prices }) => prices === undefined || prices.length > 0);
  return await Promise.all(asked.map(async (source) => {
    const prices = source.prices ?? CURRENCIES;
    const dollars = await look(BOUND_MS, async (signal) => {
      const rate = (await source.read(prices[0] ?? "USDT", signal)).get("USD");
      if (rate === undefined) throw new Error("it names no price in dollars");
      return rate;
    });
    return { name: source.name, prices, dollars };
  }));
}
