/**
 * Sweeps of deposit addresses as administrators see them.
 *
 * @module
 */

import { z } from "zod";
import { SWEEP_REASONS } from "../../ledger/sweeps/sweep_reason.ts";
import { SWEEP_VERDICTS } from "../../ledger/sweeps/write_verdict.ts";
import {
  address,
  decimal,
  EXAMPLE,
  exampleId,
  shownCurrency,
  shownNetwork,
  timestamp,
} from "../http/formats.ts";

const reason = z.enum(SWEEP_REASONS);

/** What is not swept, and why. */
export const sweepsSchema = z.object({
  counts: z.array(z.object({ reason, addresses: z.int().min(1) })).meta({
    description: "All addresses with something to sweep, by reason",
  }),
  addresses: z.array(
    z.object({
      address,
      currency: shownCurrency,
      merchantId: z.string(),
      kind: z.enum(["issued", "session", "top_up"]),
      reason: reason.meta({ description: "Why it is not swept, for programs" }),
      detail: z.string().nullable().meta({ description: "The same for people" }),
      amount: decimal.nullable().meta({ description: "What waits there, as of the last look" }),
      since: timestamp,
      lookAt: timestamp.meta({ description: "When it is looked at again" }),
    }).meta({ id: "UnsweptAddress" }),
  ).meta({ description: "At most 20 of each reason" }),
}).meta({ id: "Sweeps" });

/** What the reference shows for sweeps. */
export const SWEEPS_EXAMPLE = {
  counts: [{ reason: "below_economics", addresses: 1 }],
  addresses: [{
    address: EXAMPLE.address,
    currency: "USDT",
    merchantId: exampleId("mer"),
    kind: "issued",
    reason: "below_economics",
    detail: "3 is not more than 4.9",
    amount: "3",
    since: EXAMPLE.time,
    lookAt: EXAMPLE.later,
  }],
};

/** Answer to a verdict on a sweep. */
export const settledSweep = z.object({
  success: z.literal(true),
  sweepId: z.string(),
  verdict: z.enum(SWEEP_VERDICTS),
  arrived: decimal.meta({ description: "What its transaction brought to the hot wallet" }),
  carried: z.int().min(0).meta({ description: "Transfers that count as moved by it" }),
  released: z.int().min(0).meta({ description: "Transfers that wait for another sweep" }),
});

/** What the reference shows for it. */
export const SETTLED_SWEEP_EXAMPLE = {
  success: true,
  sweepId: exampleId("out"),
  verdict: "moved",
  arrived: "99",
  carried: 1,
  released: 0,
};

/** Answer to a write-off. */
export const writtenOff = z.object({
  success: z.literal(true),
  network: shownNetwork,
  address,
  currency: shownCurrency,
  amount: decimal,
  transfers: z.int().min(1).meta({ description: "How many are swept no more" }),
});

/** What the reference shows for it. */
export const WRITTEN_OFF_EXAMPLE = {
  success: true,
  network: "TRX",
  address: EXAMPLE.address,
  currency: "USDT",
  amount: "100",
  transfers: 1,
};
