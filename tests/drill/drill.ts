/**
 * Drills that an operator runs before they are needed: `deno task drill <name>`. Each sets up an
 * installation of its own on this machine, with a development chain, and removes it at its end.
 *
 * @module
 */

import { drillRestore } from "./restore.ts";

const DRILLS: Readonly<
  Record<string, (say: (line: string) => void, seconds?: number) => Promise<readonly string[]>>
> = { restore: drillRestore };

// deno-lint-ignore no-console -- the steps are read on the terminal
const say = (line: string) => console.log(line);
const [name = "", option = "--seconds", text = "4", ...more] = Deno.args;
const drill = Object.hasOwn(DRILLS, name) ? DRILLS[name] : undefined;
const seconds = /^[1-9]\d{0,2}$/.test(text) ? Number(text) : null;
if (drill === undefined || option !== "--seconds" || seconds === null || more.length > 0) {
  say(`Use: deno task drill ${Object.keys(DRILLS).join("|")} [--seconds 4]`);
  Deno.exit(2);
}
const faults = await drill(say, seconds);
for (const fault of faults) say(`FAULT  ${fault}`);
say(faults.length === 0 ? "The drill went well." : `${faults.length} faults.`);
Deno.exit(faults.length === 0 ? 0 : 1);
