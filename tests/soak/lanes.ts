/**
 * `deno task soak lanes --seeds 2000`: as many lives of a lane of nonces, one after the other, each drawn from a seed of its
 * own. The suite lives a few of them.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { testDatabase } from "../support/database.ts";
import { type AnvilLanes, startAnvilLanes } from "../properties/support/anvil_lane_chain.ts";
import type { OpenLaneChain } from "../properties/support/lane_chain.ts";
import { type LaneFigures, liveLane } from "../properties/support/lane_world.ts";

/** Its options. */
export const USAGE = `deno task soak lanes [--seeds 100] [--first 1] [--chain paper|anvil]
  --chain anvil  the adapter, the signer and a development chain of Ethereum; without sweeps`;

/** A chain on disk grows with each of its blocks. */
const LIVES_OF_A_CHAIN = 25;

/** Lives between two lines of the report. */
const NOTE = 50;
/** Faults after which more of them say nothing new. */
const ENOUGH = 5;

/** Runs it. Answers the exit code: 0, or 1 where a life had a fault. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: "string", default: "100" },
      first: { type: "string", default: "1" },
      chain: { type: "string", default: "paper" },
    },
  });
  const first = Number(values.first);
  const last = first + Number(values.seeds) - 1;
  if (!Number.isSafeInteger(last) || last < first) throw new TypeError("seeds are whole numbers");
  if (values.chain !== "paper" && values.chain !== "anvil") {
    throw new TypeError(`Cannot use --chain as it is neither paper nor anvil: ${values.chain}`);
  }
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 1_000);
  const sums = new Map<string, number>();
  const faults: string[] = [];
  let lives = 0;
  let anvil: AnvilLanes | null = null;
  /** Chain of the next life. */
  const openChain = async (): Promise<OpenLaneChain | undefined> => {
    if (values.chain === "paper") return undefined;
    if (lives % LIVES_OF_A_CHAIN === 0) {
      await anvil?.[Symbol.asyncDispose]();
      anvil = await startAnvilLanes();
    }
    const shared = anvil;
    return shared === null ? undefined : (draw) => shared.open(draw);
  };
  for (let seed = first; seed <= last && faults.length < ENOUGH; seed++) {
    try {
      const open = await openChain();
      await using database = await testDatabase();
      const figures: LaneFigures = await liveLane(database.sql, seed, null, open);
      for (const [name, figure] of Object.entries(figures)) {
        sums.set(name, (sums.get(name) ?? 0) + figure);
      }
    } catch (error) {
      faults.push(`seed ${seed}: ${error instanceof Error ? error.stack : error}`);
    }
    lives++;
    if (lives % NOTE === 0) print(`${seconds()} s  ${lives} lives, ${faults.length} faults`);
  }
  await disposeOf(anvil);
  for (const fault of faults) print(`  WRONG  ${fault}`);
  print(`seeds ${first} to ${first + lives - 1}: ${JSON.stringify(Object.fromEntries(sums))}`);
  print(`${lives} lives, ${faults.length} faults in ${seconds()} s`);
  return faults.length === 0 ? 0 : 1;
}

async function disposeOf(chain: AnvilLanes | null): Promise<void> {
  await chain?.[Symbol.asyncDispose]();
}

function print(text: string): void {
  // deno-lint-ignore no-console -- the report is read on the terminal
  console.log(text);
}
