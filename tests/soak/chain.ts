/**
 * Deposits and payouts of the real service while its node fails, its chain reorganises and everything
 * is killed, all drawn from a seed; then peace, and an independent audit.
 *
 * @module
 */

import { commandOf, parseOptions, parsePublicNode } from "./chain_options.ts";
import { runPublicNode } from "./public_node.ts";
import { runChainSoak } from "./run_chain_soak.ts";

export { USAGE } from "./chain_options.ts";

/** Faults that are printed; thousands of one kind say no more than the first ones. */
const SHOWN = 50;

/** Runs a soak and prints what it found. */
export async function run(args: readonly string[]): Promise<number> {
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 1_000);
  const note = (text: string) => print(`${String(seconds()).padStart(4)} s  ${text}`);
  const node = parsePublicNode(args);
  if (node !== null) {
    const { faults, figures } = await runPublicNode(node, note);
    for (const [name, value] of Object.entries(figures)) print(`  ${name.padEnd(36)}${value}`);
    for (const fault of faults) print(`  WRONG  ${fault}`);
    return faults.length === 0 ? 0 : 1;
  }
  const options = parseOptions(args);
  print(`seed ${options.seed} (repeat with: ${commandOf(options)})`);
  const { faults, figures } = await runChainSoak(options, note);
  for (const [name, value] of Object.entries(figures)) print(`  ${name.padEnd(36)}${value}`);
  for (const fault of faults.slice(0, SHOWN)) print(`  WRONG  ${fault}`);
  if (faults.length > SHOWN) print(`  ... and ${faults.length - SHOWN} more`);
  print(`${faults.length} faults in ${seconds()} s, seed ${options.seed}`);
  return faults.length === 0 ? 0 : 1;
}

function print(text: string): void {
  // deno-lint-ignore no-console -- the report is read on the terminal
  console.log(text);
}
