import { delay } from "./delay.ts";

/** Bytes of an answer that arrive as fast as they come; an ordinary list is shorter. */
export const UNPACED_BYTES = 262_144;
/** Between two chunks of larger answers, milliseconds. */
const PAUSE_MS = 2;

/**
 * Lets the connections of a pool read on one after the other once their answers are large. Reading
 * them costs this process and PostgreSQL more than all else that a merchant can ask for, so that a
 * few of them at full speed would hold up everybody's payments.
 */
export class ReadPace {
  readonly #pause: () => Promise<void>;
  #last: Promise<void> = Promise.resolve();
  #turns = 0;

  /** @param pause what lies between two turns; for tests */
  constructor(pause: () => Promise<void> = () => delay(PAUSE_MS)) {
    this.#pause = pause;
  }

  /** Turns that were waited for so far. */
  get turns(): number {
    return this.#turns;
  }

  /** Resolves when the next chunk may be read. */
  turn(): Promise<void> {
    this.#turns++;
    return this.#last = this.#last.then(this.#pause);
  }
}
