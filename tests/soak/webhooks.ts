/**
 * Events of the real service to endpoints that fail at random, while the service is killed again and
 * again: each event is delivered at least once or listed as failed, signed, and told of a change that
 * is in the books.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { runWebhookSoak, type WebhookSoakOptions } from "./run_webhook_soak.ts";

export const USAGE = `deno task soak webhooks [options]
  --seed n    repeats a run; drawn and printed when left out
  --events n  default 100000
  --kills n   of the service, default 20`;

/** Faults that are printed; thousands of one kind say no more than the first ones. */
const SHOWN = 50;

/** Runs a soak and prints what it found. */
export async function run(args: readonly string[]): Promise<number> {
  const options = parseOptions(args);
  const { seed, events, kills } = options;
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 1_000);
  print(
    `seed ${seed} (repeat with: deno task soak webhooks --seed ${seed} --events ${events} --kills ${kills})`,
  );
  const { faults, figures } = await runWebhookSoak(
    options,
    (text) => print(`${String(seconds()).padStart(4)} s  ${text}`),
  );
  for (const [name, value] of Object.entries(figures)) print(`  ${name.padEnd(44)}${value}`);
  for (const fault of faults.slice(0, SHOWN)) print(`  WRONG  ${fault}`);
  if (faults.length > SHOWN) print(`  ... and ${faults.length - SHOWN} more`);
  print(`${faults.length} faults in ${seconds()} s, seed ${seed}`);
  return faults.length === 0 ? 0 : 1;
}

/** @throws {TypeError} when the command line cannot be read; the message says why */
function parseOptions(args: readonly string[]): WebhookSoakOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: "string" },
      events: { type: "string", default: "100000" },
      kills: { type: "string", default: "20" },
    },
  });
  return {
    seed: values.seed === undefined ? Date.now() % 1_000_000 : count("--seed", values.seed),
    events: count("--events", values.events),
    kills: count("--kills", values.kills),
    merchants: 20,
  };
}

function count(name: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    throw new TypeError(`Cannot use ${name} as it is no whole number from 1: ${text}`);
  }
  return Number(text);
}

function print(text: string): void {
  // deno-lint-ignore no-console -- the report is read on the terminal
  console.log(text);
}
