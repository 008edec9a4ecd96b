/**
 * Duties of every adapter of the Chain port, whatever its chain. An adapter is done when it
 * passes: `chainConformance(name, factory)`.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { ChainHarness, Kind, Rule } from "./harness.ts";
import { addressRules } from "./rules/addresses.ts";
import { balanceRules } from "./rules/balances.ts";
import { blockRules } from "./rules/blocks.ts";
import { broadcastRules } from "./rules/broadcasts.ts";
import { feeRules } from "./rules/fees.ts";
import { laneRules } from "./rules/lanes.ts";
import { lookupRules } from "./rules/lookups.ts";
import { sweepRules } from "./rules/sweeps.ts";
import { transferRules } from "./rules/transfers.ts";

/** The rules of each part of the suite. */
const PARTS = {
  addresses: addressRules,
  blocks: blockRules,
  transfers: transferRules,
  fees: feeRules,
  broadcasts: broadcastRules,
  lanes: laneRules,
  sweeps: sweepRules,
  balances: balanceRules,
  lookups: lookupRules,
} as const satisfies Readonly<Record<string, (rule: Rule, kind: Kind) => void>>;

/** Parts of the suite. A chain is held to those that it can keep, an adapter to all. */
export type Part = keyof typeof PARTS;

/** Registers the suite for an adapter; every test gets a chain of its own. */
export function chainConformance(
  name: string,
  factory: () => Promise<ChainHarness>,
  kind: Kind,
  options: Pick<Deno.TestDefinition, "ignore" | "permissions"> = {},
  parts: readonly Part[] = Object.keys(PARTS) as Part[],
): void {
  const rule: Rule = (what, run) =>
    Deno.test({
      name: `${name}: ${what}`,
      ...options,
      fn: async () => {
        await using harness = await factory();
        assertEquals(harness.chain.capabilities.life.kind, kind.life);
        await run(harness);
      },
    });
  for (const part of parts) PARTS[part](rule, kind);
}
