/**
 * Places that requests of one kind share, so that what takes long costs its own kind alone.
 *
 * @module
 */

import { type ReadSlotOptions, ReadSlots, type Release } from "./read_slots.ts";

/** Without a refusal for so long the crowding is over, milliseconds. */
const CALM_MS = 10_000;

/** Counts of places and refusals. */
export interface SharedFigures {
  /** Places that are taken. */
  readonly underWay: number;
  /** Requests that found no place since the start, those that waited for their own owner's among them. */
  readonly refused: number;
  /** Milliseconds since which requests are refused as all places are taken; null: none was within ten seconds. */
  readonly crowdedMs: number | null;
}

/** Places of one kind of requests, a few for each of their owners: a merchant, or a hosted page. */
export class SharedPlaces {
  readonly #places: number;
  readonly #slots: ReadSlots;
  readonly #clock: () => number;
  #crowded = { since: -Infinity, last: -Infinity };

  /** @param clock milliseconds of a clock that is never set */
  constructor(options: ReadSlotOptions, clock: () => number = () => performance.now()) {
    this.#places = options.slots;
    this.#slots = new ReadSlots(options);
    this.#clock = clock;
  }

  /**
   * Waits for a place; null where none was free in time, or too many of its owner wait already.
   *
   * @param kept of those that may wait, how many are left to the owner's more urgent requests
   */
  async take(owner: string, kept = 0): Promise<Release | null> {
    const isBehindItsOwn = this.#slots.hasLongQueue(owner, kept);
    const release = await this.#slots.take(owner, kept);
    // one that waited behind its own owner's says nothing about the others
    const isCrowded = !isBehindItsOwn && this.#slots.figures.used >= this.#places &&
      this.#slots.isSharedWithOthers(owner);
    if (release === null && isCrowded) {
      const now = this.#clock();
      const { since, last } = this.#crowded;
      this.#crowded = { since: now - last < CALM_MS ? since : now, last: now };
    }
    return release;
  }

  /** Counts, for metrics and readiness. */
  get figures(): SharedFigures {
    const { used, refused } = this.#slots.figures;
    const { since, last } = this.#crowded;
    const now = this.#clock();
    return { underWay: used, refused, crowdedMs: now - last < CALM_MS ? now - since : null };
  }
}
