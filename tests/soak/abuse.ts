/**
 * Ordinary merchants of the real service beside traffic that is meant to stop it: undisturbed first,
 * then beside each kind of abuse alone and all of them together, then undisturbed again.
 *
 * @module
 */

import { type AbuseSoakOptions, parseOptions } from "./abuse_options.ts";
import { runAbuseSoak } from "./run_abuse_soak.ts";

export { USAGE } from "./abuse_options.ts";

/** Runs a soak and prints what it found. */
export async function run(args: readonly string[]): Promise<number> {
  const options = parseOptions(args);
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 1_000);
  print(`seed ${options.seed} (repeat with: ${commandOf(options)})`);
  const { lines, faults } = await runAbuseSoak(
    options,
    (text) => print(`${String(seconds()).padStart(4)} s  ${text}`),
  );
  for (const line of lines) print(`  ${line}`);
  for (const fault of faults) print(`  WRONG  ${fault}`);
  print(`${faults.length} faults in ${seconds()} s, seed ${options.seed}`);
  return faults.length === 0 ? 0 : 1;
}

function commandOf(options: AbuseSoakOptions): string {
  const { seed, seconds, connections, openRate, descriptors, merchants } = options;
  return `deno task soak abuse --seed ${seed} --seconds ${seconds} --connections ${connections} ` +
    `--open-rate ${openRate} --descriptors ${descriptors} --merchants ${merchants}`;
}

function print(text: string): void {
  // deno-lint-ignore no-console -- a report is for the person who started the run
  console.log(text);
}
