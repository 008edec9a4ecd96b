/**
 * `deno task soak failover --seeds 20`: as many real failovers that lose commits, one after the
 * other, each drawn from a seed of its own.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { lossyFailover } from "../treasury/support/lossy_failover.ts";

/** Its options. */
export const USAGE = "deno task soak failover [--seeds 20] [--first 1]";

/** Runs it. Answers the exit code: 0, or 1 where a run had a fault. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: "string", default: "20" },
      first: { type: "string", default: "1" },
    },
  });
  const first = Number(values.first);
  const last = first + Number(values.seeds) - 1;
  if (!Number.isSafeInteger(last) || last < first) throw new TypeError("seeds are whole numbers");
  let failed = 0;
  for (let seed = first; seed <= last; seed++) {
    const { faults, ...came } = await lossyFailover(seed);
    // deno-lint-ignore no-console -- the report is read on the terminal
    console.log(`seed ${seed}: ${JSON.stringify(came)}${faults.length === 0 ? "" : " FAULTS"}`);
    // deno-lint-ignore no-console -- the report is read on the terminal
    for (const fault of faults) console.log(`  ${fault}`);
    if (faults.length > 0) failed++;
  }
  // deno-lint-ignore no-console -- the report is read on the terminal
  console.log(`${last - first + 1} failovers, ${failed} with faults`);
  return failed === 0 ? 0 : 1;
}
