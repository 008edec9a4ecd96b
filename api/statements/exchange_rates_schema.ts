/**
 * Exchange rates as merchants read them.
 *
 * @module
 */

import { z } from "zod";
import { decimal, EXAMPLE, shownNetwork, timestamp } from "../http/formats.ts";

/** Answer of the endpoint. */
export const exchangeRates = z.object({
  baseCurrency: z.string().regex(/^[A-Z]{3}$/),
  rates: z.partialRecord(shownNetwork, decimal).meta({
    description: "Fiat units per USDT, for every network that takes deposits",
  }),
  timestamp,
}).meta({ id: "ExchangeRates" });

/** What the reference shows. */
export const EXCHANGE_RATES_EXAMPLE = {
  baseCurrency: "EUR",
  rates: { TRX: "0.86", TRX_SHASTA: "0.86" },
  timestamp: EXAMPLE.time,
};
