/**
 * Places for requests that change something: so many are under way at a time. One that would find no
 * place is refused before its body is read, so that little of a flood's cost is taken from those that are
 * let in. It is taken when the body is there, by callers with a valid key alone: neither slow bodies nor
 * made-up keys use places up.
 *
 * @module
 */

import { Counter, Gauge, type Registry } from "prom-client";
import { unavailable } from "./errors.ts";
import { metricOf } from "./metric_table.ts";

/**
 * Changes under way at most, of all merchants, from the end of their bodies to their answers: half of
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
      ...metricOf("engine_http_changes_refused_total"),
      registers: [registry],
    });
    if (registry === null) return;
    const used = () => this.#used;
    new Gauge({
      ...metricOf("engine_http_changes_under_way"),
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
   * True where an account finds a place just now; a refusal is counted. It may hold as many as are left
   * free: one that floods gets half of them, and the next ones half of what is left.
   */
  hasRoom(account: string): boolean {
    const hasRoom = (this.#held.get(account) ?? 0) < this.#capacity - this.#used;
    if (!hasRoom) this.#refused?.inc();
    return hasRoom;
  }

  /** Takes a place; false where there is none. */
  take(account: string): boolean {
    if (!this.hasRoom(account)) return false;
    this.#held.set(account, (this.#held.get(account) ?? 0) + 1);
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
