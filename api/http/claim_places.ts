/**
 * Places for claims. Each asks the nodes of its network and then waits for its merchant, for seconds where
 * these are slow. Every network has places of its own: one whose nodes hang uses up no other's.
 *
 * @module
 */

import type { Network } from "../../ledger/money/pair.ts";
import { ReadSlots, type Release } from "./read_slots.ts";

/** Claims of one network that are under way at a time. */
const PLACES = 4;

/** Time for which a claim waits for a place, milliseconds. */
const WAIT_MS = 2_000;

/** Without a refusal for so long the crowding is over, milliseconds. */
const CALM_MS = 10_000;

/** Counts of one network's places. */
export interface ClaimFigures {
  readonly underWay: number;
  /** Claims that found no place since the start, those that waited for their own merchant's among them. */
  readonly refused: number;
  /** Milliseconds since which claims are refused as all places are taken; null: none was within ten seconds. */
  readonly crowdedMs: number | null;
}

interface Places {
  readonly slots: ReadSlots;
  crowded: { readonly since: number; readonly last: number };
}

/** Places of all networks. A merchant has one claim per network at a time, whatever number of keys it has. */
export class ClaimPlaces {
  readonly #networks = new Map<Network, Places>();
  readonly #clock: () => number;
  readonly #waitMs: number;

  /**
   * @param clock milliseconds of a clock that is never set
   * @param waitMs time for which a claim waits for a place
   */
  constructor(clock: () => number = () => performance.now(), waitMs = WAIT_MS) {
    this.#clock = clock;
    this.#waitMs = waitMs;
  }

  /** Waits for a place; null where none was free in time. */
  async take(network: Network, merchantId: string): Promise<Release | null> {
    const places = this.#placesOf(network);
    const release = await places.slots.take(merchantId);
    // one that waited behind a claim of its own merchant says nothing about the others
    if (release === null && places.slots.figures.used >= PLACES) {
      const now = this.#clock();
      const { since, last } = places.crowded;
      places.crowded = { since: now - last < CALM_MS ? since : now, last: now };
    }
    return release;
  }

  /** Counts of a network's places, for metrics and readiness. */
  figures(network: Network): ClaimFigures {
    const { slots, crowded: { since, last } } = this.#placesOf(network);
    const { used, refused } = slots.figures;
    const now = this.#clock();
    return { underWay: used, refused, crowdedMs: now - last < CALM_MS ? now - since : null };
  }

  #placesOf(network: Network): Places {
    const found = this.#networks.get(network);
    if (found !== undefined) return found;
    const slots = new ReadSlots({ slots: PLACES, perMerchant: 1, waitMs: this.#waitMs });
    const places: Places = { slots, crowded: { since: -Infinity, last: -Infinity } };
    this.#networks.set(network, places);
    return places;
  }
}
