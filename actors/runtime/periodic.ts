/**
 * Work that is done again and again, each piece by itself: one that throws or never ends keeps no
 * other from being done, and how long ago each was last completed is known.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";

/** State of a piece of work. */
export interface PeriodicState {
  readonly name: string;
  /** Between two begins, milliseconds. */
  readonly everyMs: number;
  /** Since it was last completed, or since the start, milliseconds. */
  readonly ageMs: number;
}

interface Task {
  readonly name: string;
  readonly everyMs: number;
  completedAt: number;
}

/** Periodic work of one node. */
export class Periodic {
  readonly #monotonic: () => number;
  readonly #tasks: Task[] = [];
  #tickers: ReturnType<typeof setInterval>[] = [];

  /** @param monotonic milliseconds of a clock that is never set */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** State of each piece of work. */
  get states(): readonly PeriodicState[] {
    const now = this.#monotonic();
    return this.#tasks.map(({ name, everyMs, completedAt }) => ({
      name,
      everyMs,
      ageMs: now - completedAt,
    }));
  }

  /**
   * Does a piece of work from now on; never twice at the same time.
   *
   * @param atOnce whether it is done at once, too
   */
  every(
    name: string,
    everyMs: number,
    work: () => void | Promise<void>,
    atOnce = false,
  ): void {
    const task: Task = { name, everyMs, completedAt: this.#monotonic() };
    this.#tasks.push(task);
    let isBusy = false;
    const tick = async () => {
      if (isBusy) return;
      isBusy = true;
      try {
        await work();
        task.completedAt = this.#monotonic();
      } catch (error) {
        logEvent("periodic.failed", { name, error });
      } finally {
        isBusy = false;
      }
    };
    this.#tickers.push(setInterval(tick, everyMs));
    if (atOnce) tick();
  }

  /** Begins nothing more. */
  stop(): void {
    for (const ticker of this.#tickers) clearInterval(ticker);
    this.#tickers = [];
  }
}
