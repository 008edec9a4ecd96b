/**
 * Places for requests that change something: so many are under way at a time. One that finds no place
 * is refused before its body is read, so that little of a flood's cost is taken from those that are let
 * in. Only callers with a valid key take places: made-up keys cannot use them up.
 *
 * @module
 */

import { Counter, Gauge, type Registry } from "prom-client";
import { unavailable } from "./errors.ts";

/**
 * Changes under way at most, of all merchants, from the check of their keys to their answers: half of
 * them in the journal's batch under way, half for the next one. Larger batches gain nothing.
 */
export const CHANGE_PLACES = 512;

/** The answer to a change that finds no place. */
export const CROWDED = unavailable("Too many requests are under way; nothing was done.");

/** Places for requests that change something, by the account that sends them. */
export class ChangePlaces {
  readonly #held = new Map<string, number>();
  readonly #capacity: number;
  readonly #refused: Counter | null;
  #used = 0;

  /** @param registry is given the figures; null: nothing is */
  constructor(registry: Registry | null, capacity: number = CHANGE_PLACES) {
    this.#capacity = capacity;
    this.#refused = registry === null ? null : new Counter({
      name: "http_changes_refused_total",
      help: "Changes that were answered 503 unread, as too many requests were under way.",
      registers: [registry],
    });
    if (registry === null) return;
    const used = () => this.#used;
    new Gauge({
      name: "http_changes_under_way",
      help: "Requests that change something, between the check of their keys and their answers.",
      registers: [registry],
      collect() {
        this.set(used());
      },
    });
  }

  /** Places that are taken. */
  get used(): number {
    return this.#used;
  }

  /**
   * Takes a place; false where there is none. An account may hold as many as are left free: one that
   * floods gets half of them, two get a third each, and there is a place for all others at any time.
   */
  take(account: string): boolean {
    const own = this.#held.get(account) ?? 0;
    if (own >= this.#capacity - this.#used) {
      this.#refused?.inc();
      return false;
    }
    this.#held.set(account, own + 1);
    this.#used++;
    return true;
  }

  /** Gives a place back. */
  leave(account: string): void {
    const left = (this.#held.get(account) ?? 1) - 1;
    if (left === 0) this.#held.delete(account);
    else this.#held.set(account, left);
    this.#used--;
  }
}
