/**
 * The variables that say how a network's deposit addresses are swept.
 *
 * @module
 */

import { z } from "zod";
import { type FamilyName, PROFILES, type SweepBy, SWEEPS_BY } from "../../chains/profiles.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { type Given, oneOf, wholeNumber } from "./variables.ts";

/** Rules by which the deposit addresses of one network are swept. */
export interface SweepConfig {
  readonly enabled: boolean;
  /** `auto`: energy is delegated where the hot wallet has enough stake, otherwise coin is sent. */
  readonly gas: "auto" | "coin";
  /** An issued address has to hold so many times the cost of its sweep, a decimal. */
  readonly factor: string;
  /** After so many hours a top-up is swept although it does not pay. */
  readonly topUpHours: number;
  /** Sender of sweeps; null: the network knows one way alone. */
  readonly by: SweepBy | null;
  /** Addresses in one transaction, where the hot wallet sends it. */
  readonly batch: number;
}

/** Variables that networks of one family alone have. */
export const OF_FAMILY: Readonly<Record<string, FamilyName>> = {
  SWEEP_GAS: "tron",
  SWEEP_BY: "evm",
  SWEEP_BATCH: "evm",
  RECEIPT_TYPES: "evm",
};

/** The variables; each name follows the network's symbol and an underscore. */
export const SWEEPS = {
  SWEEPS: oneOf("on", "off").default("on").describe(
    "whether deposit addresses are swept to the hot wallet; off begins nothing new, top-ups stay pending",
  ),
  SWEEP_GAS: oneOf("auto", "coin").default("auto")
    .describe(
      "auto delegates energy to addresses where the hot wallet has staked enough, otherwise sends them coin; coin always sends it",
    ),
  SWEEP_FACTOR: z.string().regex(/^\d{1,3}(\.\d{1,6})?$/, "is not a number from 0 to 999")
    .default("2").describe(
      "an issued address is swept when it holds more than this many times what sweeping it costs",
    ),
  SWEEP_TOP_UP_HOURS: wholeNumber(0, 23).default(22)
    .describe("a top-up that does not pay is swept when it was final for so many hours"),
  SWEEP_BY: oneOf(...SWEEPS_BY).optional().describe(
    "coin: each address sends its own sweep, with coin that the hot wallet gives it; delegate: the hot wallet collects from many addresses at once, by a contract that they authorise (docs/operations-reference.md). Always delegate in development where nothing is set. An address that was swept by delegate is never swept by coin again",
  ),
  SWEEP_BATCH: wholeNumber(1, 40).default(20).describe(
    "addresses in one transaction of delegate, fewer where one of them fails; what it may cost stays below the cap",
  ),
};

/**
 * Names each variable that a network is given and only networks of other families have.
 *
 * @param network one that is served
 */
export function familyFaults(given: Given, network: Network): readonly string[] {
  const { family } = PROFILES[network];
  return Object.entries(OF_FAMILY)
    .filter(([key, only]) => only !== family && given[`${network}_${key}`])
    .map(([key]) => `${network}_${key} is set although ${network} has no use for it: take it out`);
}

/**
 * The settings that the variables stand for.
 *
 * @param isDevelopment true where its chain may be a development chain: where no money can be lost, the way that was not looked at by
 *   others is the default
 */
export function sweepsOf(
  values: z.infer<z.ZodObject<typeof SWEEPS>>,
  network: Network,
  isDevelopment: boolean,
): SweepConfig {
  const { sweepBy } = PROFILES[network].defaults;
  const usual = sweepBy !== undefined && isDevelopment ? "delegate" : sweepBy;
  return {
    by: sweepBy === undefined ? null : values.SWEEP_BY ?? usual ?? null,
    batch: values.SWEEP_BATCH,
    enabled: values.SWEEPS === "on",
    gas: values.SWEEP_GAS,
    factor: values.SWEEP_FACTOR,
    topUpHours: values.SWEEP_TOP_UP_HOURS,
  };
}
