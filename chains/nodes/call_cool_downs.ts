/**
 * Calls that a node could not answer, each left alone by itself with a growing pause, while the node is
 * asked everything else.
 *
 * @module
 */

import { type CallFailed, NotServed } from "./node_failures.ts";

/** First pause of a call; doubles with each further failure. */
const FIRST_PAUSE_MS = 500;
/** No longer than a block that cannot be read is left alone by the scan. */
const LONGEST_PAUSE_MS = 15_000;
/** Longest pause of a call that the node's operator has closed: only the operator can change that. */
const NOT_SERVED_MS = 60_000;
/** More than are in use at once; the oldest are forgotten, and asked again. */
const MOST_KEPT = 500;

interface CoolDown {
  readonly failures: number;
  readonly until: number;
  readonly error: CallFailed;
}

/** The calls that one node is not asked now. */
export class CallCoolDowns {
  readonly #coolDowns = new Map<string, CoolDown>();
  readonly #now: () => number;

  /** @param now monotonic milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** The failure for which a call is not sent now, or `null`. @param call path and body, or a path */
  failureOf(call: string): CallFailed | null {
    const coolDown = this.#coolDowns.get(call);
    return coolDown !== undefined && coolDown.until > this.#now() ? coolDown.error : null;
  }

  /** Leaves a call alone, longer each time. */
  failed(error: CallFailed): void {
    const failures = (this.#coolDowns.get(error.call)?.failures ?? 0) + 1;
    const longest = error instanceof NotServed ? NOT_SERVED_MS : LONGEST_PAUSE_MS;
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10), longest);
    this.#coolDowns.delete(error.call);
    this.#coolDowns.set(error.call, { failures, until: this.#now() + pause, error });
    const [oldest] = this.#coolDowns.keys();
    if (this.#coolDowns.size > MOST_KEPT && oldest !== undefined) this.#coolDowns.delete(oldest);
  }

  /** A call was answered. */
  succeeded(call: string): void {
    this.#coolDowns.delete(call);
  }

  /** Calls that are left alone now. */
  get cooling(): number {
    const now = this.#now();
    return [...this.#coolDowns.values()].filter(({ until }) => until > now).length;
  }

  /** Paths that the node does not serve, as it last said or as its silence shows. */
  get unserved(): readonly string[] {
    const now = this.#now();
    return [...this.#coolDowns].filter(([, { error, until }]) =>
      error instanceof NotServed && until > now
    ).map(([path]) => path);
  }
}
