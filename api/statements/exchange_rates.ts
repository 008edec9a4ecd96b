/**
 * Exchange rates as merchants read them.
 *
 * @module
 */

import { z } from "zod";
import { CURRENCIES, NETWORKS, pairKey } from "../../ledger/money/pair.ts";
import { ok } from "../http/answer.ts";
import { unavailable } from "../http/errors.ts";
import { fiatCode } from "../http/fields.ts";
import { decimal, EXAMPLE, shownNetwork, timestamp } from "../http/formats.ts";
import { keyedRoute } from "../http/route.ts";

/** Answer of the endpoint. */
const exchangeRates = z.object({
  baseCurrency: z.string().regex(/^[A-Z]{3}$/),
  rates: z.partialRecord(shownNetwork, decimal).meta({
    description: "Fiat units per USDT, for every network that takes deposits",
  }),
  timestamp,
}).meta({ id: "ExchangeRates" });

const EXCHANGE_RATES_EXAMPLE = {
  baseCurrency: "EUR",
  rates: { TRX: "0.86", TRX_SHASTA: "0.86" },
  timestamp: EXAMPLE.time,
};

/** `GET /api/exchange-rates`. */
export const getExchangeRates = keyedRoute({
  method: "GET",
  path: "/api/exchange-rates",
  summary: "Fiat units per USDT on each network that takes deposits",
  access: { scope: "own", anyOf: ["read"] },
  rateCategory: "transactions",
  query: z.object({ requestedCurrency: fiatCode }),
  responses: {
    200: { description: "The rates", schema: exchangeRates, example: EXCHANGE_RATES_EXAMPLE },
  },
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
