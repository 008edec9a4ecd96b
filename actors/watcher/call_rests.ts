/**
 * Rests that make a day's calls last the day. The two views of a network ask the same nodes, at the same
 * time or one after the other: their calls are counted together, and a rest holds both.
 *
 * @module
 */

import type { NodeState } from "../../chains/node_state.ts";

/** A rest from which on the operator learns that calls run low, and what only informs is left out. */
export const LONG_REST_MS = 15_000;

/** Part of a day's calls that is kept for payouts and for what people ask. */
const KEPT_FOR_OTHERS = 0.1;
/** Part of a day's calls down to which catching up is not slowed. */
const FREE_DOWN_TO = 0.25;
/** The longest rest: a budget that is used up slows the scan and never ends it. */
export const LONGEST_REST_MS = 60_000;
const DAY_MS = 24 * 3_600_000;

/** Number of calls left today; null where some node has no bound. */
export interface CallsLeft {
  readonly left: number;
  readonly limit: number;
}

/** Adds up the calls that the nodes of a network are still good for today: they stand in for each other. */
export function callsLeft(nodes: readonly NodeState[]): CallsLeft | null {
  let left = 0;
  let limit = 0;
  for (const { dailyCalls, callsToday } of nodes) {
    if (dailyCalls === null) return null;
    left += Math.max(0, dailyCalls - callsToday);
    limit += dailyCalls;
  }
  return limit === 0 ? null : { left, limit };
}

/**
 * Time to rest after a poll of the chain, so that what is left of today's calls lasts until
 * midnight (UTC), when providers begin to count anew.
 *
 * @param used calls of that poll
 * @param catchingUp whether many blocks are left: then half-used budgets may be used faster
 * @param now Unix milliseconds
 */
export function restAfter(
  calls: CallsLeft | null,
  used: number,
  catchingUp: boolean,
  now: number,
): number {
  if (calls === null || used === 0) return 0;
  if (catchingUp && calls.left > calls.limit * FREE_DOWN_TO) return 0;
  const untilMidnight = DAY_MS - now % DAY_MS;
  const usable = calls.left - calls.limit * KEPT_FOR_OTHERS * (untilMidnight / DAY_MS);
  if (usable <= used) return LONGEST_REST_MS;
  return Math.min(LONGEST_REST_MS, used * untilMidnight / usable);
}

/** The rests of one network. */
export class CallRests {
  readonly #monotonic: () => number;
  #looks = 0;
  /** Calls of today up to which a rest was taken. */
  #counted = 0;
  #until = 0;
  #ms = 0;

  /** @param monotonic milliseconds of a clock that is never set */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** The rest that was taken last, milliseconds. */
  get ms(): number {
    return this.#ms;
  }

  /** True while nothing is to be asked. */
  get isOn(): boolean {
    return this.#monotonic() < this.#until;
  }

  /** A look at the chain begins. */
  begin(nodes: readonly NodeState[]): void {
    if (this.#looks === 0) this.#counted = callsOf(nodes);
    this.#looks += 1;
  }

  /**
   * A look has ended, whatever came of it. Of looks that overlap each call counts once.
   *
   * @param catchingUp see {@linkcode restAfter}
   * @param now Unix milliseconds
   * @returns true if calls have begun to run low
   */
  end(nodes: readonly NodeState[], catchingUp: boolean, now: number): boolean {
    this.#looks -= 1;
    const calls = callsOf(nodes);
    const used = Math.max(0, calls - this.#counted);
    this.#counted = calls;
    const at = this.#monotonic();
    const rest = restAfter(callsLeft(nodes), used, catchingUp, now);
    this.#until = Math.min(Math.max(this.#until, at) + rest, at + LONGEST_REST_MS);
    const before = this.#ms;
    this.#ms = this.#until - at;
    return this.#ms >= LONG_REST_MS && before < LONG_REST_MS;
  }
}

function callsOf(nodes: readonly NodeState[]): number {
  return nodes.reduce((sum, { callsToday }) => sum + callsToday, 0);
}
