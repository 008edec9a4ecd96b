import type { AttemptResult } from "../../ledger/outbox/attempts.ts";
import { logEvent } from "../../log/log_event.ts";
import { classifyDatabaseError } from "../../ledger/database/database_errors.ts";
import type { ClaimedEvent, Outbox, Want } from "../../ledger/outbox/outbox.ts";

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

/** Pause of an endpoint whose claim was refused, milliseconds; doubling. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Claims for many endpoints at once, each of which may spoil the statement: what the database refuses
 * is claimed in halves, until the endpoint that it refuses stands alone. That one is left alone for a
 * growing while, and costs the others nothing meanwhile.
 */
export class Claims {
  /** Next claims for endpoints that were refused, by the monotonic clock. */
  readonly #refused = new Map<string, { readonly until: number; readonly pauseMs: number }>();

  /** @param monotonic milliseconds of a clock that is never set */
  constructor(
    private readonly outbox: Pick<Outbox, "claim">,
    private readonly monotonic: () => number = () => performance.now(),
  ) {}

  /** Endpoints whose last claim the database refused. */
  get refused(): number {
    return this.#refused.size;
  }

  /** True where an endpoint's claim was refused a short while ago. */
  leavesAlone(merchantId: string): boolean {
    return (this.#refused.get(merchantId)?.until ?? -Infinity) > this.monotonic();
  }

  /**
   * Claims, in halves where the database refuses it.
   *
   * @param onClaimed called with each part at once: a half that fails later takes nothing of it back
   * @throws when the database is away
   */
  async claim(
    wants: readonly Want[],
    onClaimed: (wants: readonly Want[], events: readonly ClaimedEvent[]) => void,
  ): Promise<void> {
    let events: readonly ClaimedEvent[];
    try {
      events = await this.outbox.claim(wants);
    } catch (error) {
      if (classifyDatabaseError(error) === "connection") throw error;
      const [first] = wants;
      if (wants.length > 1) {
        const middle = wants.length >> 1;
        await this.claim(wants.slice(0, middle), onClaimed);
        await this.claim(wants.slice(middle), onClaimed);
      } else if (first !== undefined) {
        this.#leaveAlone(first.merchantId, error);
      }
      return;
    }
    if (this.#refused.size > 0) {
      for (const { merchantId } of wants) this.#refused.delete(merchantId);
    }
    onClaimed(wants, events);
  }

  #leaveAlone(merchantId: string, error: unknown): void {
    const before = this.#refused.get(merchantId)?.pauseMs ?? FIRST_PAUSE_MS / 2;
    const pauseMs = Math.min(before * 2, LONGEST_PAUSE_MS);
    this.#refused.set(merchantId, { until: this.monotonic() + pauseMs, pauseMs });
    logEvent("callback.claim_refused", {
      merchantId,
      pauseMs,
      error,
    });
  }
}
