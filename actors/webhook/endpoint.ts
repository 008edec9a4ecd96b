import type { AttemptResult } from "../../ledger/outbox/attempts.ts";

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
 * The same while something else holds rows of the merchant: the first of them show that it still
 * does, and each further one takes memory for as long as that lasts.
 */
const UNWRITTEN_HELD = 16;

/** State of one merchant's endpoint while events wait for it. */
export class Endpoint {
  /** Deliveries under way. */
  inFlight = 0;
  /** Last event, milliseconds of the monotonic clock. */
  touchedAt = 0;
  /** True if the last claim was filled, so that more events are likely to wait. */
  hasMore = false;
  #width = UNKNOWN;

  /**
   * The number of further deliveries that may start.
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
    return this.hasMore && !this.isInTrouble;
  }

  /** True if half of what may be under way has ended. */
  isHalfEmpty(isCrowded: boolean): boolean {
    return this.inFlight <= this.#widthWhen(isCrowded) / 2;
  }

  #widthWhen(isCrowded: boolean): number {
    return isCrowded ? Math.min(this.#width, CROWDED) : this.#width;
  }

  /** True if a new one would be treated the same. */
  get isOrdinary(): boolean {
    return this.inFlight === 0 && !this.isInTrouble;
  }

  /** True if it has answered badly more often than well of late. */
  get isInTrouble(): boolean {
    return this.#width < UNKNOWN;
  }

  /**
   * An acknowledgement widens the path by one. A failure halves it, down to one: an endpoint that is
   * down or slow holds few of the connections that all merchants share, and is not hammered.
   */
  answered(result: AttemptResult["kind"]): void {
    if (result === "delivered") this.#width = Math.min(this.#width + 1, WIDEST);
    else if (result !== "released") this.#width = Math.max(Math.floor(this.#width / 2), 1);
  }
}

/** Distance of two wake-ups of {@linkcode RetryAlarm}, milliseconds. */
const STEP_MS = 25;

/**
 * Wakes merchants when one of their retries is due, at times rounded up to a grid, so that there are
 * never more timers than steps of the grid within the longest delay.
 */
export class RetryAlarm {
  readonly #due = new Map<
    number,
    { readonly merchantIds: Set<string>; readonly timer: ReturnType<typeof setTimeout> }
  >();

  constructor(private readonly wake: (merchantId: string) => void) {}

  /** Wakes a merchant after a delay, a little later at most. */
  set(merchantId: string, delayMs: number): void {
    const now = performance.now();
    const step = Math.ceil((now + delayMs) / STEP_MS);
    const present = this.#due.get(step);
    if (present !== undefined) return void present.merchantIds.add(merchantId);
    const merchantIds = new Set([merchantId]);
    const timer = setTimeout(() => {
      this.#due.delete(step);
      for (const id of merchantIds) this.wake(id);
    }, step * STEP_MS - now);
    this.#due.set(step, { merchantIds, timer });
  }

  /** Forgets everything; the next poll of the outbox finds what is due. */
  clear(): void {
    for (const { timer } of this.#due.values()) clearTimeout(timer);
    this.#due.clear();
  }
}
