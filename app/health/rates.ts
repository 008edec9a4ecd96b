import type { Rates } from "../../rates/rates.ts";

/** Troubles with exchange rates: quotes and the prices of sweeps rest on them. */
export function rateReasons(rates: Pick<Rates, "find">): readonly string[] {
  return rates.find("USDT", "USD") === null
    ? [
      "exchange rates are not known: no quotes are given and no sweeps are priced, see whether their " +
      "providers can be reached",
    ]
    : [];
}
