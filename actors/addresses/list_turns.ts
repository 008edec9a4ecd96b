/**
 * Shares the thread among merchants whose lists take long to look at: a slice of one merchant's list,
 * a pause for everything else, then a slice of the next merchant's. A merchant that asks for many large
 * lists waits behind itself, and others take as long as they would beside one list.
 *
 * @module
 */

import { delay } from "../../ledger/database/delay.ts";

/** A slice of a list. */
export interface Slice<Result> {
  /** The result of the list; null while slices are left. */
  readonly result: Result | null;
  /** True where addresses were derived, so that a pause follows. */
  readonly isWork: boolean;
}

/** Bounds of {@linkcode ListTurns}. */
export interface TurnBounds {
  /** Pause after a slice that took time, milliseconds. */
  readonly pauseMs: number;
  /** Time until a list is given up, milliseconds. */
  readonly listMs: number;
  /** Lists at a time; of each merchant one alone once half of them are there. */
  readonly lists: number;
  /** Lists of one merchant. */
  readonly ofMerchant: number;
}

/** Figures of the lists under way, for metrics and readiness. */
export interface TurnFigures {
  readonly waiting: number;
  /** Age of the oldest list; 0: there is none. */
  readonly oldestMs: number;
  /** Lists since the start that were turned away as their own merchant had enough. */
  readonly refused: number;
  /** Lists since the start that found no room or no time. */
  readonly givenUp: number;
  /** Time since the last of those; null: none was. */
  readonly givenUpMs: number | null;
}

interface List<Result> {
  readonly since: number;
  readonly slice: () => Slice<Result>;
  readonly resolve: (result: Result | "busy") => void;
}

export class ListTurns<Result> {
  readonly #bounds: TurnBounds;
  readonly #monotonic: () => number;
  /** Lists by merchant; whose turn is next comes first. */
  readonly #lists = new Map<string, List<Result>[]>();
  #waiting = 0;
  #refused = 0;
  #givenUp = 0;
  #givenUpAt: number | null = null;
  #isRunning = false;

  /** @param monotonic milliseconds of a clock that is never set */
  constructor(bounds: TurnBounds, monotonic: () => number) {
    this.#bounds = bounds;
    this.#monotonic = monotonic;
  }

  /** Figures of this moment. */
  get figures(): TurnFigures {
    const now = this.#monotonic();
    let oldest = now;
    for (const [first] of this.#lists.values()) oldest = Math.min(oldest, first?.since ?? now);
    return {
      waiting: this.#waiting,
      oldestMs: now - oldest,
      refused: this.#refused,
      givenUp: this.#givenUp,
      givenUpMs: this.#givenUpAt === null ? null : now - this.#givenUpAt,
    };
  }

  /**
   * Goes through a list in turns.
   *
   * @param slice does the next part of it; does not throw
   * @returns `busy` where there was no room or no time for it
   */
  take(merchantId: string, slice: () => Slice<Result>): Promise<Result | "busy"> {
    const own = this.#lists.get(merchantId) ?? [];
    const { lists, ofMerchant } = this.#bounds;
    if (this.#waiting >= lists) return Promise.resolve(this.#giveUp());
    if (own.length >= (this.#waiting >= lists / 2 ? 1 : ofMerchant)) {
      this.#refused++;
      return Promise.resolve("busy");
    }
    return new Promise((resolve) => {
      own.push({ since: this.#monotonic(), slice, resolve });
      this.#lists.set(merchantId, own);
      this.#waiting++;
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let [next] = this.#lists; next !== undefined; [next] = this.#lists) {
      const [merchantId, own] = next;
      this.#lists.delete(merchantId);
      const [list] = own;
      let isWork = false;
      if (list !== undefined) {
        const isLate = this.#monotonic() - list.since > this.#bounds.listMs;
        const slice = isLate ? null : list.slice();
        isWork = slice?.isWork === true;
        const result = slice === null ? this.#giveUp() : slice.result;
        if (result !== null) {
          own.shift();
          this.#waiting--;
          list.resolve(result);
        }
      }
      if (own.length > 0) this.#lists.set(merchantId, own);
      if (isWork) await delay(this.#bounds.pauseMs);
    }
    this.#isRunning = false;
  }

  #giveUp(): "busy" {
    this.#givenUp++;
    this.#givenUpAt = this.#monotonic();
    return "busy";
  }
}
