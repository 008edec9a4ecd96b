/**
 * Time as clients of this process have it: what passes while its thread is held does not count.
 *
 * @module
 */

/** Pause between two counts of the thread's turns, milliseconds. */
const TICK_MS = 25;
/** One turn counts for so much at most, milliseconds. */
const MOST_MS = 100;

/**
 * A clock that goes on by at most 100 ms for each turn of the event loop. A client whose request lies
 * unread for four seconds, as the thread was busy for so long, has not been slow for four seconds.
 */
export class ServedClock {
  readonly #monotonic: () => number;
  readonly #ticks: ReturnType<typeof setInterval> | null;
  #served = 0;
  #tickedAt: number;

  /**
   * @param monotonic milliseconds of a clock that is never set
   * @param ticks false: {@linkcode tick} is called by the caller
   */
  constructor(monotonic: () => number = () => performance.now(), ticks = true) {
    this.#monotonic = monotonic;
    this.#tickedAt = monotonic();
    this.#ticks = ticks ? setInterval(() => this.tick(), TICK_MS) : null;
  }

  /** Milliseconds since the clock was made in which the thread served. */
  now(): number {
    return this.#served + Math.min(this.#monotonic() - this.#tickedAt, MOST_MS);
  }

  /** A turn of the event loop has come. */
  tick(): void {
    this.#served = this.now();
    this.#tickedAt = this.#monotonic();
  }

  /** Ends the counting. */
  stop(): void {
    if (this.#ticks !== null) clearInterval(this.#ticks);
  }
}
