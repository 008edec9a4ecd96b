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

/**
 * Deliveries of one endpoint that are under way or not written down yet: wide enough for one that
 * answers at once, and a part of what all endpoints have together.
 */
const UNWRITTEN = 256;

/**
 * The same while something else holds rows of the merchant: the first of them tell that it still
 * does, and each further one takes memory for as long as that lasts.
 */
const UNWRITTEN_HELD = 16;

/** An endpoint with undelivered events. */
export class Endpoint {
  /** Deliveries under way. */
  inFlight = 0;
  /** When something last happened, milliseconds of the monotonic clock. */
  touchedAt = 0;
  /** True if the last claim was filled, so that more events are likely to wait. */
  hasMore = false;
  #width = UNKNOWN;

  constructor(readonly merchantId: string) {}

  /**
   * How many more deliveries may start.
   *
   * @param isCrowded whether so many are under way that slow endpoints must not take the rest
   * @param unwritten deliveries that have ended and are not written down
   * @param isHeld whether something else holds rows of the merchant
   */
  room(isCrowded: boolean, unwritten: number, isHeld: boolean): number {
    const bound = isHeld ? UNWRITTEN_HELD : UNWRITTEN;
    const most = Math.min(this.#widthWhen(isCrowded), bound - unwritten);
    return Math.max(most - this.inFlight, 0);
  }

  /**
   * True if a claim may wait until half of what may be under way has ended: where more events wait
   * they are claimed by halves, one half while the other is delivered. Not for an endpoint that
   * answers badly: it would be called, and the database asked for it, all the more often.
   */
  get goesByHalves(): boolean {
    return this.hasMore && this.#width >= UNKNOWN;
  }

  /** True if half of what may be under way has ended. */
  isHalfEmpty(isCrowded: boolean): boolean {
    const width = this.#widthWhen(isCrowded);
    return width - this.inFlight >= width / 2;
  }

  #widthWhen(isCrowded: boolean): number {
    return isCrowded ? Math.min(this.#width, CROWDED) : this.#width;
  }

  /** True if nothing is known that a new one would not know. */
  get isOrdinary(): boolean {
    return this.inFlight === 0 && this.#width >= UNKNOWN;
  }

  /** True if it has answered badly more often than well of late. */
  get isInTrouble(): boolean {
    return this.#width < UNKNOWN;
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
