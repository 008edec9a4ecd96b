import type { SweepPace, SweepTerms } from "../../actors/sweeper/sweep_terms.ts";
import type { Config } from "../config/config.ts";
import type { Network } from "../../ledger/money/pair.ts";

const MINUTE_MS = 60_000;

/** Where transactions live for five minutes and are final after one. */
export const SWEEP_PACE: SweepPace = {
  staleMs: 15 * MINUTE_MS,
  retryMs: MINUTE_MS,
  failureLimit: 3,
  restMs: 15 * MINUTE_MS,
  lookMs: MINUTE_MS,
};

/** On a development chain, where everything is ten times as fast. */
export const DEV_SWEEP_PACE: SweepPace = {
  staleMs: MINUTE_MS,
  retryMs: 5_000,
  failureLimit: 3,
  restMs: MINUTE_MS,
  lookMs: 5_000,
};

/** How a network's addresses are swept, as configured. */
export function sweepTerms(config: Config, network: Network): SweepTerms {
  const { topUpHours, ...terms } = config.networks[network].sweeps;
  return { ...terms, topUpWaitMs: topUpHours * 60 * MINUTE_MS };
}
