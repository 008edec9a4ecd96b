// deno-lint-ignore-file no-console -- a report is for the person who started the run
/**
 * `deno task fuzz`: generated hostile requests, and what was wrong with the answers.
 *
 * @module
 */

import { parseOptions, USAGE } from "./options.ts";
import { runFuzz } from "./run_fuzz.ts";

async function main(args: readonly string[]): Promise<number> {
  const options = parseOptions(args);
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 1_000);
  const { seed, requests, clients } = options;
  console.log(
    `seed ${seed} (deno task fuzz --seed ${seed} --requests ${requests} --clients ${clients})`,
  );
  const { statuses, raw, faults } = await runFuzz(
    options,
    (text) => console.log(`${String(seconds()).padStart(5)} s  ${text}`),
  );
  const answers = [...statuses].toSorted(([a], [b]) => a - b)
    .map(([status, count]) => `${status}: ${count}`);
  console.log(`${answers.join(", ")}; ${raw} over bare connections`);
  for (const fault of faults) console.log(`  WRONG  ${fault}`);
  console.log(`${faults.length} faults in ${seconds()} s, seed ${seed}`);
  return faults.length === 0 ? 0 : 1;
}

try {
  Deno.exit(await main(Deno.args));
} catch (error) {
  console.error(error);
  if (error instanceof TypeError) console.error(USAGE);
  Deno.exit(1);
}
