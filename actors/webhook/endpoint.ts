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
  /** Whether the last claim was filled, so that more events are likely to wait. */
  hasMore = false;
  #width = UNKNOWN;

  constructor(readonly merchantId: string) {}

  /**
   * How many more deliveries may start.
   *
   * @param isCrowded whether so many are under way that slow endpoints must not take the rest
   */
  room(isCrowded: boolean): number {
    return Math.max(this.#widthWhen(isCrowded) - this.inFlight, 0);
  }

  /**
   * Whether events are to be claimed before the deliveries that ended are written down: where more
   * wait, by halves, so that one half is delivered while the other is claimed.
   */
  isRunningDry(isCrowded: boolean): boolean {
    return this.hasMore && this.room(isCrowded) >= this.#widthWhen(isCrowded) / 2;
  }

  #widthWhen(isCrowded: boolean): number {
    return isCrowded ? Math.min(this.#width, CROWDED) : this.#width;
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
