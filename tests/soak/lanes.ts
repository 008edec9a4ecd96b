/**
 * `deno task soak lanes --seeds 2000`: as many lives of a lane of nonces, one after the other, each drawn from a seed of its
 * own. The suite lives a few of them.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { type AnvilLanes, startAnvilLanes } from "../properties/support/anvil_lane_chain.ts";
import type { OpenLaneChain } from "../properties/support/lane_chain.ts";
import { liveLane } from "../properties/support/lane_world.ts";
import { type LaneDatabase, openLaneDatabase } from "./lane_database.ts";

/** Its options. */
export const USAGE = `deno task soak lanes [--seeds 100] [--first 1] [--chain both|paper|anvil]
  --chain paper  a chain on paper, with sweeps that share transactions
  --chain anvil  the adapter, the signer and a development chain of Ethereum; without sweeps
  --chain both   (default) every tenth seed on anvil, the others on paper
  Two of them beside one another, with --first, take two cores. With TMPDIR=/dev/shm nothing waits for a disk.`;

const CHAINS = ["both", "paper", "anvil"] as const;
type Chains = (typeof CHAINS)[number];

/** One life in so many is on anvil where both chains are asked for: it takes some four times as long. */
const ON_ANVIL = 10;
/** A chain on disk grows with each of its blocks. */
const LIVES_OF_A_CHAIN = 25;
/** Lives between two lines of the report. */
const NOTE = 50;
/** Faults after which more of them say nothing new. */
const ENOUGH = 5;

/** Runs it. Answers the exit code: 0, or 1 where a life had a fault. */
export async function run(args: readonly string[]): Promise<number> {
  const { first, last, chains } = optionsOf(args);
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 1_000);
  await using lives = new Lives();
  const faults: string[] = [];
  let lived = 0;
  for (let seed = first; seed <= last && faults.length < ENOUGH; seed++) {
    const isOnAnvil = chains === "anvil" || chains === "both" && seed % ON_ANVIL === 0;
    const fault = await lives.live(seed, isOnAnvil);
    if (fault !== null) faults.push(`seed ${seed} on ${isOnAnvil ? "anvil" : "paper"}: ${fault}`);
    lived++;
    if (lived % NOTE === 0) print(`${seconds()} s  ${lived} lives, ${faults.length} faults`);
  }
  for (const fault of faults) print(`  WRONG  ${fault}`);
  for (const line of lives.report()) print(line);
  print(`${lived} lives from seed ${first}, ${faults.length} faults in ${seconds()} s`);
  return faults.length === 0 ? 0 : 1;
}

function optionsOf(
  args: readonly string[],
): { readonly first: number; readonly last: number; readonly chains: Chains } {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: "string", default: "100" },
      first: { type: "string", default: "1" },
      chain: { type: "string", default: "both" },
    },
  });
  const first = Number(values.first);
  const last = first + Number(values.seeds) - 1;
  if (!Number.isSafeInteger(last) || last < first) throw new TypeError("seeds are whole numbers");
  const chains = CHAINS.find((one) => one === values.chain);
  if (chains === undefined) {
    throw new TypeError(
      `Cannot use --chain as it is none of ${CHAINS.join(", ")}: ${values.chain}`,
    );
  }
  return { first, last, chains };
}

/** Lives that share a database and a chain as long as nothing goes wrong. */
class Lives implements AsyncDisposable {
  #database: LaneDatabase | null = null;
  #anvil: AnvilLanes | null = null;
  /** Lives of the present chain. */
  #ofChain = 0;
  readonly #sums = { paper: new Map<string, number>(), anvil: new Map<string, number>() };

  /** Lives one life. @returns its fault, or null */
  async live(seed: number, isOnAnvil: boolean): Promise<string | null> {
    try {
      const open = isOnAnvil ? await this.#onAnvil() : undefined;
      this.#database ??= await openLaneDatabase();
      const figures = await liveLane(this.#database.sql, seed, null, open);
      await this.#database.empty();
      const sums = this.#sums[isOnAnvil ? "anvil" : "paper"];
      for (const [name, figure] of Object.entries({ lives: 1, ...figures })) {
        sums.set(name, (sums.get(name) ?? 0) + figure);
      }
      return null;
    } catch (error) {
      // what a broken life has left under way is no part of the next one
      await this[Symbol.asyncDispose]();
      return error instanceof Error ? error.stack ?? error.message : String(error);
    }
  }

  async #onAnvil(): Promise<OpenLaneChain> {
    if (this.#ofChain === LIVES_OF_A_CHAIN) await this.#endChain();
    this.#anvil ??= await startAnvilLanes();
    this.#ofChain++;
    const anvil = this.#anvil;
    return (draw) => anvil.open(draw);
  }

  /** Figures by chain: a model to which nothing happens says nothing. */
  report(): readonly string[] {
    return Object.entries(this.#sums).filter(([, sums]) => sums.size > 0)
      .map(([chain, sums]) => `${chain}: ${JSON.stringify(Object.fromEntries(sums))}`);
  }

  async #endChain(): Promise<void> {
    const anvil = this.#anvil;
    this.#anvil = null;
    this.#ofChain = 0;
    await anvil?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#endChain();
    const database = this.#database;
    this.#database = null;
    await database?.[Symbol.asyncDispose]();
  }
}

function print(text: string): void {
  // deno-lint-ignore no-console -- the report is read on the terminal
  console.log(text);
}
