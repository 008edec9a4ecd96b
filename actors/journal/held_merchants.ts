/**
 * Merchants that nothing is decided for just now: a row of theirs is locked by another transaction,
 * or it is being found out what became of a commit of theirs. Their messages wait in their
 * mailboxes, in order, until the pause is over or their senders' time is.
 *
 * @module
 */

/** Shortest pause, milliseconds: about as long as another node's commit takes. */
const SHORTEST_MS = 5;
/** Longest pause after a try that kept nobody, milliseconds. */
const LONGEST_MS = 5_000;
/** A try that kept others is followed by a pause of so many times that, and grows to 60 s at most. */
const COST_FACTOR = 20;
const LONGEST_COST_MS = 60_000;
/** The first pause after an expensive try is so many times its cost, and those that follow twice as long each. */
const FIRST_COST_FACTOR = 4;
/** After so long a hold is worth telling an operator, milliseconds. */
const SUSPENDED_MS = 2_000;
/** Milliseconds for which a merchant is remembered after its pause when nothing more was heard of it. */
const FORGET_MS = 60_000;

interface Hold {
  /** When the row was first found locked. */
  readonly since: number;
  readonly until: number;
}

export class HeldMerchants {
  readonly #holds = new Map<string, Hold>();
  readonly #clock: () => number;

  /** @param clock monotonic milliseconds */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /** Merchants that are held, also for the moment that another node's commit takes. */
  get size(): number {
    return this.#holds.size;
  }

  /** Merchants that have been held for longer than any commit takes. */
  get suspended(): number {
    const before = this.#clock() - SUSPENDED_MS;
    let count = 0;
    for (const { since } of this.#holds.values()) if (since < before) count++;
    return count;
  }

  /**
   * Holds a merchant whose row is locked: for as long again as it has been found so, so that one
   * that another node writes waits milliseconds, and one that stays locked is tried ever more rarely.
   *
   * @param costMs how long the try kept others waiting
   * @returns milliseconds until the pause ends
   */
  pause(merchantId: string, costMs: number): number {
    const now = this.#clock();
    const known = this.#holds.get(merchantId);
    if (known?.until === Infinity) return Infinity;
    const since = known?.since ?? now;
    const patience = Math.max(LONGEST_MS, costMs * FIRST_COST_FACTOR, 2 * (now - since));
    const rest = Math.min(costMs * COST_FACTOR, LONGEST_COST_MS, patience);
    const grown = Math.min(Math.max(now - since, SHORTEST_MS), LONGEST_MS);
    const pause = Math.max(rest, grown);
    this.#holds.set(merchantId, { since, until: now + pause });
    return pause;
  }

  /** Holds a merchant until {@linkcode release}. */
  freeze(merchantId: string): void {
    this.#holds.set(merchantId, { since: this.#clock(), until: Infinity });
  }

  /** Ends a hold: the merchant's rows could be written. */
  release(merchantId: string): void {
    this.#holds.delete(merchantId);
  }

  /** True while nothing of a merchant is taken up. */
  has(merchantId: string): boolean {
    const hold = this.#holds.get(merchantId);
    return hold !== undefined && hold.until > this.#clock();
  }

  /** Milliseconds until the next pause ends; null where none will by itself. */
  get nextMs(): number | null {
    let next = Infinity;
    const now = this.#clock();
    for (const { until } of this.#holds.values()) if (until > now) next = Math.min(next, until);
    return next === Infinity ? null : next - now;
  }

  /** Forgets merchants that were not heard of again. */
  tidy(): void {
    const now = this.#clock();
    for (const [merchantId, { until }] of this.#holds) {
      if (until + FORGET_MS < now) this.#holds.delete(merchantId);
    }
  }
}
