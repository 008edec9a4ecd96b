import { PartBound, type TimeBound } from "./part_bound.ts";

/** The longest that nodes are asked for one batch of internal transfers at first, and at most, milliseconds. */
const LEAST_MS = 6_000;
const MOST_MS = 24_000;
/** After a batch of which nothing came in its time there are none for so many times as long. */
const RESTS = 3;

/** Makes a bound of so many milliseconds. */
export type BoundOf = (ms: number) => TimeBound;

/**
 * The time that nodes have for internal transfers: payouts of the same network, and all else of its turns, wait
 * meanwhile. A batch has a few seconds. One in which nodes answered for no transfer is followed by a rest, and the next
 * one has twice the time, so that internal transfers go on by nodes that are merely slow.
 */
export class InternalTime {
  readonly #monotonic: () => number;
  readonly #boundOf: BoundOf;
  #ms = LEAST_MS;
  #restsUntil = -Infinity;

  /** @param monotonic milliseconds of a clock that is never set */
  constructor(monotonic: () => number, boundOf: BoundOf = (ms) => new PartBound(ms)) {
    this.#monotonic = monotonic;
    this.#boundOf = boundOf;
  }

  /** The time of the next batch; null: none is to be tried now. */
  begin(): TimeBound | null {
    return this.#monotonic() < this.#restsUntil ? null : this.#boundOf(this.#ms);
  }

  /**
   * Ends a batch.
   *
   * @param isCut its time was over before nodes had answered for all of it
   * @param isMoved something of it was signed
   */
  end(isCut: boolean, isMoved: boolean): void {
    if (!isCut || isMoved) {
      this.#ms = LEAST_MS;
      return;
    }
    this.#restsUntil = this.#monotonic() + RESTS * this.#ms;
    this.#ms = Math.min(2 * this.#ms, MOST_MS);
  }
}
