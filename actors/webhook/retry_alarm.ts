/**
 * Wakes merchants when a retry of theirs is due. Times are rounded up to a grid, so that there are
 * never more timers than steps of the grid within the longest delay.
 *
 * @module
 */

/** Distance of two wake-ups, milliseconds. */
const STEP_MS = 25;

/** Timers for retries. */
export class RetryAlarm {
  readonly #due = new Map<
    number,
    { readonly merchantIds: Set<string>; readonly timer: ReturnType<typeof setTimeout> }
  >();

  constructor(private readonly wake: (merchantId: string) => void) {}

  /** Wakes a merchant after a delay, a little later at most. */
  set(merchantId: string, delayMs: number): void {
    const now = performance.now();
    const slot = Math.ceil((now + delayMs) / STEP_MS);
    const present = this.#due.get(slot);
    if (present !== undefined) {
      present.merchantIds.add(merchantId);
      return;
    }
    const timer = setTimeout(() => this.#ring(slot), slot * STEP_MS - now);
    this.#due.set(slot, { merchantIds: new Set([merchantId]), timer });
  }

  /** Forgets everything; the sweep finds what is due. */
  clear(): void {
    for (const { timer } of this.#due.values()) clearTimeout(timer);
    this.#due.clear();
  }

  #ring(slot: number): void {
    const due = this.#due.get(slot);
    this.#due.delete(slot);
    for (const merchantId of due?.merchantIds ?? []) this.wake(merchantId);
  }
}
