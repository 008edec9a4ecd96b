/**
 * What is remembered of one merchant's endpoint while events wait for it.
 *
 * @module
 */

/** Deliveries at the same time to an endpoint that answers well, and to one nothing is known of. */
const WIDEST = 64;
const UNKNOWN = 8;

/** Deliveries at the same time to one endpoint when all merchants together have many. */
const CROWDED = 4;

/** An endpoint with undelivered events. */
export class Endpoint {
  /** Deliveries under way. */
  inFlight = 0;
  /** When something last happened, milliseconds of the monotonic clock. */
  touchedAt = 0;
  #width = UNKNOWN;

  constructor(readonly merchantId: string) {}

  /**
   * How many more deliveries may start.
   *
   * @param isCrowded whether so many are under way that slow endpoints must not take the rest
   */
  room(isCrowded: boolean): number {
    const width = isCrowded ? Math.min(this.#width, CROWDED) : this.#width;
    return Math.max(width - this.inFlight, 0);
  }

  /** Whether nothing is known that a new one would not know. */
  get isOrdinary(): boolean {
    return this.inFlight === 0 && this.#width >= UNKNOWN;
  }

  /** An acknowledgement widens the path by one. */
  answeredWell(): void {
    this.#width = Math.min(this.#width + 1, WIDEST);
  }

  /**
   * Anything else halves it, down to one: an endpoint that is down or slow holds few of the
   * connections that all merchants share, and is not hammered.
   */
  answeredBadly(): void {
    this.#width = Math.max(Math.floor(this.#width / 2), 1);
  }
}
