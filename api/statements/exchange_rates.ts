/**
 * Exchange rates as merchants read them.
 *
 * @module
 */

import { z } from "zod";
import { CURRENCIES, NETWORKS, pairKey } from "../../ledger/money/pair.ts";
import { ok } from "../http/answer.ts";
import { unavailable } from "../http/errors.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { route } from "../http/route.ts";

const exchangeRates = z.object({
  baseCurrency: eg(z.string().regex(/^[A-Z]{3}$/), "EUR"),
  rates: eg(
    z.partialRecord(f.network, f.decimal).meta({
      description: "Fiat units per USDT, for every network that takes deposits",
    }),
    { TRX: "0.86", TRX_SHASTA: "0.86" },
  ),
  timestamp: f.timestamp,
}).meta({ id: "ExchangeRates" });

export const getExchangeRates = route({
  at: "GET /api/exchange-rates",
  summary: "Fiat units per USDT on each network that takes deposits",
  access: { scope: "own", anyOf: ["read"] },
  rateCategory: "transactions",
  query: z.object({ requestedCurrency: f.fiatCode }),
  responses: { 200: { description: "The rates", schema: exchangeRates } },
  handler: async ({ query }, context) => {
    const found = context.rates.find("USDT", query.requestedCurrency);
    if (found === null) {
      return unavailable(`No fresh rate is known for ${query.requestedCurrency}.`);
    }
    const { pairs } = await context.settings();
    const open = NETWORKS.filter((network) =>
      context.chains.has(network) &&
      CURRENCIES.some((currency) => pairs.get(pairKey(currency, network))?.depositsEnabled === true)
    );
    return ok({
      baseCurrency: query.requestedCurrency,
      rates: Object.fromEntries(open.map((network) => [network, found.rate])),
      timestamp: new Date(found.at).toISOString(),
    });
  },
});
