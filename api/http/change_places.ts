/**
 * Places for requests that change something: so many are under way at a time. One that would find no
 * place is refused before its body is read, so that little of a flood's cost is taken from those that are
 * let in. Callers with a valid key alone have places, and for a body that does not arrive none is kept:
 * neither slow bodies nor made-up keys use places up.
 *
 * @module
 */

import { unavailable } from "./errors.ts";

/**
 * Changes under way at most, of all merchants, from their heads to their answers: but for those that
 * are kept for accounts with few, half of them in the journal's batch under way, half for the next one.
 * Larger batches gain nothing, and a request that is let in waits for all that hold places before it.
 */
const CHANGE_PLACES = 448;

/**
 * Of so many places the last one is kept for accounts that hold few: floods of some accounts end where
 * these begin, and to use all of them up takes dozens of accounts.
 */
const KEPT_OF = 7;

/** Most places that an account holds of those that are kept, and the fewer the less are left. */
const FEW = 4;

/**
 * Changes under way at most while others are refused. A burst may fill all places; in a flood that goes on
 * each one that is let in would wait for all of them, and every refusal for the turns in which the thread
 * works on their batch.
 */
const FLOODED_PLACES = 128;

/** Without a refusal for so long a flood is over, milliseconds. */
export const FLOOD_MS = 1_000;

/** A place is kept for a body that is awaited for so long, milliseconds; afterwards others may have it. */
const BODY_MS = 100;

/** Without a refusal for so long the crowding is over, milliseconds. */
const CALM_MS = 10_000;

/** The answer to a change that finds no place. */
export const CROWDED = unavailable("Too many requests are under way; nothing was done.");

/** A request's place; whether it has one at the moment is known to {@linkcode ChangePlaces} alone. */
export interface Place {
  readonly account: string;
  /** Time of its request's head, by the clock of the places. */
  readonly since: number;
  isHeld: boolean;
}

/** Counts of places and refusals. */
export interface PlaceFigures {
  /** Places that are taken, and accounts that have them. */
  readonly underWay: number;
  readonly accounts: number;
  /** Changes that were refused since the start. */
  readonly refused: number;
  /** Milliseconds since which changes are refused; null: none was within the last ten seconds. */
  readonly crowdedMs: number | null;
}

/** Places for requests that change something, by the account that sends them. */
export class ChangePlaces {
  readonly #held = new Map<string, number>();
  /** Places of requests whose bodies are awaited, the oldest first. */
  readonly #awaiting = new Set<Place>();
  readonly #capacity: number;
  readonly #kept: number;
  readonly #clock: () => number;
  /** Places that are given at the moment. */
  #open: number;
  #used = 0;
  /** Places held, of each account no more than {@linkcode FEW} counted. */
  #few = 0;
  #refused = 0;
  #crowded = { since: -Infinity, last: -Infinity };

  /** @param clock milliseconds of a clock that is never set */
  constructor(
    capacity: number = CHANGE_PLACES,
    clock: () => number = () => performance.now(),
  ) {
    this.#capacity = capacity;
    this.#open = capacity;
    this.#kept = Math.floor(capacity / KEPT_OF);
    this.#clock = clock;
  }

  /** Counts, for metrics and readiness. */
  get figures(): PlaceFigures {
    this.#giveUpAwaited();
    const now = this.#clock();
    const { since, last } = this.#crowded;
    return {
      underWay: this.#used,
      accounts: this.#held.size,
      refused: this.#refused,
      crowdedMs: now - last < CALM_MS ? now - since : null,
    };
  }

  /** True where some account might find no place. */
  get isCrowded(): boolean {
    return 3 * this.#used >= 2 * (this.#open - this.#kept);
  }

  /**
   * True where an account finds a place just now. It may hold twice as many as are left free: one that
   * floods gets two thirds of them, and the next ones two thirds of what is left. A place that is given
   * back goes to those with fewer places than that, so that floods become equal. The kept places are not
   * counted as free for it: of these an account with few has some, one at least while there is any.
   */
  hasRoom(account: string): boolean {
    this.#giveUpAwaited();
    this.#endFlood();
    const held = this.#held.get(account) ?? 0;
    const free = this.#open - this.#used;
    // places that floods hold beyond a few count for nothing where an account has none
    if (free <= 0) return held === 0 && this.#few < this.#open && this.#used < this.#capacity;
    const kept = this.#kept === 0 ? 0 : Math.ceil(FEW * Math.min(1, free / this.#kept));
    return held < Math.max(2 * (free - this.#kept), kept);
  }

  /** Notes that a change was refused for want of a place. */
  refuse(): void {
    this.#refused++;
    const now = this.#clock();
    if (now - this.#crowded.last >= CALM_MS) this.#crowded = { since: now, last: now };
    this.#crowded.last = now;
    this.#open = Math.min(this.#capacity, FLOODED_PLACES);
  }

  /** Takes a place for a request whose head is there; null where there is none. */
  enter(account: string): Place | null {
    if (!this.hasRoom(account)) return null;
    const place: Place = { account, since: this.#clock(), isHeld: false };
    this.#take(place);
    this.#awaiting.add(place);
    return place;
  }

  /** Keeps the place of a request whose body is there; false where others have it by now. */
  keep(place: Place): boolean {
    this.#awaiting.delete(place);
    if (place.isHeld) return true;
    if (!this.hasRoom(place.account)) return false;
    this.#take(place);
    return true;
  }

  /** Gives a place back. */
  leave(place: Place): void {
    if (!place.isHeld) return;
    place.isHeld = false;
    this.#awaiting.delete(place);
    const left = (this.#held.get(place.account) ?? 1) - 1;
    if (left < FEW) this.#few--;
    if (left === 0) this.#held.delete(place.account);
    else this.#held.set(place.account, left);
    this.#used--;
  }

  /** Gives all places again once a flood is over. */
  #endFlood(): void {
    if (this.#open === this.#capacity) return;
    if (this.#clock() - this.#crowded.last >= FLOOD_MS) this.#open = this.#capacity;
  }

  #take(place: Place): void {
    place.isHeld = true;
    const held = (this.#held.get(place.account) ?? 0) + 1;
    this.#held.set(place.account, held);
    if (held <= FEW) this.#few++;
    this.#used++;
  }

  /** Gives places back whose bodies did not arrive in time. */
  #giveUpAwaited(): void {
    if (this.#awaiting.size === 0) return;
    const since = this.#clock() - BODY_MS;
    for (const place of this.#awaiting) {
      if (place.since > since) break;
      this.leave(place);
    }
  }
}
