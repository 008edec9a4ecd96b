import { LEAST_SOURCES } from "../../../rates/agreed_rate.ts";
import { isCoin } from "../../../rates/coins.ts";
import type { Facts } from "./facts.ts";
import { type Finding, missing, ok } from "./finding.ts";

/** Judges whether enough providers of exchange rates are reached, for stablecoins and for each coin that they are asked for. */
export function judgeRates({ rates }: Pick<Facts, "rates">): Finding {
  const point = "exchange rates";
  if (rates.length === 0) return ok(point, "a fixed table, as development has it");
  const silent = rates.flatMap(({ name, dollars }) =>
    dollars.ok ? [] : [`${name}: ${dollars.reason}`]
  );
  const coins = rates.flatMap(({ prices }) => prices.filter(isCoin));
  const lacking = [...new Set(["USDT" as const, ...coins])].filter((priced) =>
    rates.filter(({ prices, dollars }) => dollars.ok && prices.includes(priced)).length <
      LEAST_SOURCES
  );
  const told = silent.length === 0 ? "" : `; ${silent.join("; ")}`;
  if (lacking.length === 0) {
    return ok(point, `${rates.length - silent.length} of ${rates.length} providers answer${told}`);
  }
  return missing(
    point,
    `fewer than ${LEAST_SOURCES} providers price ${lacking.join(" and ")}${told}`,
    "let the service reach them over https; without rates there are no quotes and no sweeps",
  );
}
