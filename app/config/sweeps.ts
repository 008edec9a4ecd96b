/**
 * The variables that say how a network's deposit addresses are swept.
 *
 * @module
 */

import { z } from "zod";
import { oneOf, wholeNumber } from "./variables.ts";

/** Rules by which the deposit addresses of one network are swept. */
export interface SweepConfig {
  readonly enabled: boolean;
  /** `auto`: energy is delegated where the hot wallet has enough stake, otherwise coin is sent. */
  readonly gas: "auto" | "coin";
  /** An issued address has to hold so many times the cost of its sweep, a decimal. */
  readonly factor: string;
  /** After so many hours a top-up is swept although it does not pay. */
  readonly topUpHours: number;
}

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
};

/** The settings that the variables stand for. */
export function sweepsOf(values: z.infer<z.ZodObject<typeof SWEEPS>>): SweepConfig {
  return {
    enabled: values.SWEEPS === "on",
    gas: values.SWEEP_GAS,
    factor: values.SWEEP_FACTOR,
    topUpHours: values.SWEEP_TOP_UP_HOURS,
  };
}
