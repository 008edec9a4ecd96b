/**
 * Merchants of a batch that took as long as a statement may: one of them is perhaps to blame, and it
 * is not known which. Each is decided alone until it passes; their senders need not wait for that.
 *
 * @module
 */

/** A failure that cost so much counts as slow, milliseconds. */
const SLOW_MS = 1_000;
/** After so many slow failures in a row the database is slow for all. */
const STALLED_AFTER = 3;
/** Milliseconds for which a merchant stays in doubt after nothing more was heard of it. */
const FORGET_MS = 600_000;

interface Doubt {
  readonly since: number;
  /** Count of merchants that had passed when it began. */
  readonly passed: number;
}

export class DoubtfulMerchants {
  readonly #doubts = new Map<string, Doubt>();
  readonly #clock: () => number;
  #passed = 0;
  #slowInARow = 0;

  /** @param clock monotonic milliseconds */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /** True where the last failures were slow and nothing has passed between them: no merchant is to blame. */
  get isStalled(): boolean {
    return this.#slowInARow >= STALLED_AFTER;
  }

  /** True for a merchant that is to be decided alone. */
  has(merchantId: string): boolean {
    return this.#doubts.has(merchantId);
  }

  /** Counts a failure. @returns whether it was slow */
  failed(costMs: number): boolean {
    if (costMs < SLOW_MS) return false;
    this.#slowInARow++;
    return true;
  }

  /** Ends a row of slow failures: the database answers, if not for all. */
  answered(): void {
    this.#slowInARow = 0;
  }

  /** Has merchants decided alone until each has passed. */
  add(merchantIds: Iterable<string>): void {
    const doubt = { since: this.#clock(), passed: this.#passed };
    for (const merchantId of merchantIds) {
      if (!this.#doubts.has(merchantId)) this.#doubts.set(merchantId, doubt);
    }
  }

  /**
   * True where a merchant that was slow alone is to blame: it was in doubt, and others have passed since.
   * Where nothing has passed the database may be slow for all.
   */
  isToBlame(merchantId: string): boolean {
    const doubt = this.#doubts.get(merchantId);
    return doubt !== undefined && doubt.passed < this.#passed;
  }

  /** Ends the doubt about a merchant whose messages were decided and written. */
  pass(merchantId: string): void {
    this.#doubts.delete(merchantId);
    this.#passed++;
    this.#slowInARow = 0;
  }

  /** Forgets merchants that were not heard of again. */
  tidy(): void {
    const before = this.#clock() - FORGET_MS;
    for (const [merchantId, { since }] of this.#doubts) {
      if (since < before) this.#doubts.delete(merchantId);
    }
  }
}
