/**
 * Drills that an operator runs before they are needed: `deno task drill <name>`. Each sets up an
 * installation of its own on this machine, with a development chain, and removes it at its end.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { drillRestore } from "./restore.ts";
import { drillRotate } from "./rotate.ts";
import { drillUpgrade } from "./upgrade.ts";

// deno-lint-ignore no-console -- the steps are read on the terminal
const say = (line: string) => console.log(line);
const USE = `Use: deno task drill restore [--seconds 4]
     deno task drill upgrade [--seconds 4 | --backup FILE]
     deno task drill rotate`;

/** Runs the drill that a command line names; null where it names none. */
function run(): Promise<readonly string[]> | null {
  const options = { seconds: { type: "string" }, backup: { type: "string" } } as const;
  let line;
  try {
    line = parseArgs({ args: Deno.args, options, allowPositionals: true });
  } catch {
    return null;
  }
  const { positionals: [name, ...more], values: { seconds = "4", backup } } = line;
  if (more.length > 0 || !/^[1-9]\d{0,2}$/.test(seconds)) return null;
  if (name === "restore" && backup === undefined) return drillRestore(say, Number(seconds));
  if (name === "rotate" && Deno.args.length === 1) return drillRotate(say);
  if (name !== "upgrade") return null;
  return drillUpgrade(say, { seconds: Number(seconds), ...backup === undefined ? {} : { backup } });
}

const drill = run();
if (drill === null) {
  say(USE);
  Deno.exit(2);
}
const faults = await drill;
for (const fault of faults) say(`FAULT  ${fault}`);
say(faults.length === 0 ? "The drill went well." : `${faults.length} faults.`);
Deno.exit(faults.length === 0 ? 0 : 1);
