import type { CallCounter } from "../node_state.ts";

const DAY_MS = 24 * 3_600_000;

/** Today as providers count it: `YYYY-MM-DD`, UTC. */
function utcDay(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}

/**
 * Counts the calls to one node per day. Other services use the same quota, so that what was counted
 * here is handed over now and then, and the count of all comes back.
 */
export class CallMeter implements CallCounter {
  readonly #now: () => number;
  #day: number;
  /** Calls of all services that are known of, without {@linkcode #own}. */
  #known = 0;
  /** Calls of this process that were not handed over. */
  #own = 0;

  /**
   * @param limit calls per day, null without a bound
   * @param now Unix milliseconds
   */
  constructor(readonly limit: number | null, now: () => number = Date.now) {
    this.#now = now;
    this.#day = Math.floor(now() / DAY_MS);
  }

  /** Counts the calls of one request. */
  count(calls = 1): void {
    this.#turn();
    this.#own += calls;
  }

  /** Calls of today, as far as is known. */
  get today(): number {
    this.#turn();
    return this.#known + this.#own;
  }

  /** True if today's calls are used up. */
  get isQuotaUsedUp(): boolean {
    return this.limit !== null && this.today >= this.limit;
  }

  take(): { readonly day: string; readonly calls: number } {
    this.#turn();
    const calls = this.#own;
    this.#known += calls;
    this.#own = 0;
    return { day: utcDay(this.#now()), calls };
  }

  learn(day: string, total: number): void {
    this.#turn();
    if (day === utcDay(this.#now())) this.#known = Math.max(this.#known, total);
  }

  giveBack(day: string, calls: number): void {
    this.#turn();
    if (day !== utcDay(this.#now())) return;
    this.#known -= calls;
    this.#own += calls;
  }

  #turn(): void {
    const day = Math.floor(this.#now() / DAY_MS);
    if (day === this.#day) return;
    this.#day = day;
    this.#known = 0;
    this.#own = 0;
  }
}
