/**
 * Bounds of waits in stories of deaths: a test that hangs says nothing, so every wait has its end and
 * names what did not come.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { START_MS } from "../../support/service.ts";

/** Bounds of what a story waits for. */
export interface Patience {
  /** Bound of one death, the leases that the one before it left behind included, milliseconds. */
  readonly deathMs: number;
  /** Bound of everything else, milliseconds. */
  readonly waitMs: number;
  /** Time by the wall before which no bound begins, for example the last start. */
  readonly since: () => number;
}

/** The most deaths in a row. */
export const MOST_DEATHS = 6;
/** Bound of one wait for a node within the test's process, where a death and a start take no second. */
export const NODE_MS = 90_000;
const PROCESS_DEATH_MS = 180_000;

const ALWAYS = () => -Infinity;

/** Of a service in a process of its own, which dies and starts all the while; a slow machine is waited for. */
const OF_A_PROCESS: Patience = {
  deathMs: PROCESS_DEATH_MS,
  waitMs: (MOST_DEATHS + 1) * (START_MS + PROCESS_DEATH_MS),
  since: ALWAYS,
};
const OF_A_NODE: Patience = { deathMs: 90_000, waitMs: NODE_MS, since: ALWAYS };

const storage = new AsyncLocalStorage<Patience>();

/** The patience of the story that asks. */
export function patience(): Patience {
  return storage.getStore() ?? OF_A_PROCESS;
}

/** Tells a story with the patience that a node in the test's process needs. */
export function withPatienceOfANode<T>(story: () => Promise<T>): Promise<T> {
  return storage.run(OF_A_NODE, story);
}

/**
 * Does something while a service dies and starts: whatever waits has its bound from the last start on.
 *
 * @param since the last start, Unix milliseconds
 */
export function whileDying<T>(since: () => number, act: () => Promise<T>): Promise<T> {
  const { deathMs, waitMs } = patience();
  return storage.run({
    deathMs,
    waitMs: Math.min(waitMs, deathMs + START_MS),
    since,
  }, act);
}

/**
 * The promise's value.
 *
 * @param what what is waited for, for the message
 * @throws when it did not come within the bound
 */
export async function bounded<T>(what: string, promise: Promise<T>, ms = NODE_MS): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`Cannot go on without: ${what}, which did not come in ${ms} ms`)),
      ms,
    );
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
