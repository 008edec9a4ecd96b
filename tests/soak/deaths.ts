/**
 * Deaths of the real service, in a process of its own, at every crash point of a deposit, a payout and a
 * sweep: the long form of `tests/faults/crash_test.ts` and `tests/sweeps/crashes_test.ts`, whose node dies
 * within the process of the test.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { DEATHS, openStarted, surviveDeposits, survivePayouts } from "../faults/support/crashes.ts";
import { bounded } from "../faults/support/patience.ts";
import { surviveSweeps, SWEEP_DEATHS, SWEEPING } from "../sweeps/support/deaths.ts";
import { withService } from "../support/service.ts";

export const USAGE = `deno task soak deaths [options]
  --only name  deposits, payouts or sweeps; default all of them, one after the other`;

/** Bound of one story: every wait of it has its own, this one is for all of them together. */
const STORY_MS = 20 * 60_000;

interface Story {
  readonly deaths: number;
  readonly tell: () => Promise<unknown>;
}

const count = (moments: Readonly<Record<string, readonly string[]>>) =>
  Object.values(moments).flat().length;

const STORIES: Readonly<Record<string, Story>> = {
  deposits: { deaths: count(DEATHS.deposits), tell: () => surviveDeposits(openStarted) },
  payouts: { deaths: count(DEATHS.payouts), tell: () => survivePayouts(openStarted) },
  sweeps: {
    // the one more is that between the first address and the first top-up
    deaths: SWEEP_DEATHS.length + 1,
    tell: () =>
      withService(async (service) => {
        await service.start();
        await surviveSweeps(service);
      }, SWEEPING),
  },
};

/** Runs it, and prints what each story came to. */
export async function run(args: readonly string[]): Promise<number> {
  const began = performance.now();
  let [deaths, faults] = [0, 0];
  for (const name of namesOf(args)) {
    const story = STORIES[name];
    if (story === undefined) continue;
    const storyBegan = performance.now();
    try {
      await bounded(`the end of ${name}`, story.tell(), STORY_MS);
      deaths += story.deaths;
      print(`${name}: ${story.deaths} deaths survived in ${secondsSince(storyBegan)} s`);
    } catch (error) {
      faults++;
      print(`  WRONG  ${name}, after ${secondsSince(storyBegan)} s: ${describe(error)}`);
    }
  }
  print(`${faults} faults, ${deaths} deaths survived, in ${secondsSince(began)} s`);
  return faults === 0 ? 0 : 1;
}

/** @throws {TypeError} when the command line cannot be read */
function namesOf(args: readonly string[]): readonly string[] {
  const { values: { only } } = parseArgs({
    args: [...args],
    options: { only: { type: "string" } },
  });
  if (only === undefined) return Object.keys(STORIES);
  if (!Object.hasOwn(STORIES, only)) {
    throw new TypeError(`Cannot tell a story as there is none of this name: ${only}`);
  }
  return [only];
}

function describe(error: unknown): string {
  return error instanceof Error ? error.stack ?? error.message : String(error);
}

function secondsSince(began: number): number {
  return Math.round((performance.now() - began) / 1_000);
}

function print(text: string): void {
  // deno-lint-ignore no-console -- the report is read on the terminal
  console.log(text);
}
