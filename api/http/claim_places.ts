/**
 * Places for claims. Each asks the nodes of its network and then waits for its merchant, for seconds where
 * these are slow. Every network has places of its own: one whose nodes hang uses up no other's.
 *
 * @module
 */

import type { Network } from "../../ledger/money/pair.ts";
import type { Release } from "./read_slots.ts";
import { type SharedFigures, SharedPlaces } from "./shared_places.ts";

/** Claims of one network that are under way at a time. */
const PLACES = 4;

/** Time for which a claim waits for a place, milliseconds. */
const WAIT_MS = 2_000;

/** Places of all networks. A merchant has one claim per network at a time, whatever number of keys it has. */
export class ClaimPlaces {
  readonly #networks = new Map<Network, SharedPlaces>();
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
  take(network: Network, merchantId: string): Promise<Release | null> {
    return this.#placesOf(network).take(merchantId);
  }

  /** Counts of a network's places, for metrics and readiness. */
  figures(network: Network): SharedFigures {
    return this.#placesOf(network).figures;
  }

  #placesOf(network: Network): SharedPlaces {
    const found = this.#networks.get(network);
    if (found !== undefined) return found;
    const options = { slots: PLACES, perMerchant: 1, waitMs: this.#waitMs };
    const places = new SharedPlaces(options, this.#clock);
    this.#networks.set(network, places);
    return places;
  }
}
