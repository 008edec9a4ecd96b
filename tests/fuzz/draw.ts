import { seeded } from "../faults/support/seeded.ts";

/** Choices that are the same for the same seed. */
export class Draw {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = seeded(seed);
  }

  /** True so often of all times, 0 to 1. */
  chance(share: number): boolean {
    return this.#next() < share;
  }

  /** A whole number from 0 up to, not including, `end`. */
  below(end: number): number {
    return Math.floor(this.#next() * end);
  }

  /** One of a list that is not empty. */
  of<T>(list: readonly T[]): T {
    const chosen = list[this.below(list.length)];
    if (chosen === undefined) throw new RangeError("Cannot draw from an empty list");
    return chosen;
  }
}
