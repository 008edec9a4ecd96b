/**
 * Counting requests per minute, in memory and per node: behind a balancer a merchant may have the
 * published number of requests on each node. A window begins with the first request of its bucket.
 *
 * @module
 */

/** Length of a window, milliseconds. */
export const WINDOW_MS = 60_000;

/** Buckets that are remembered at most; about 100 bytes each. */
const LARGEST_MEMORY = 100_000;

/** What is left of a bucket after a request. */
export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  /** Requests left in the window. */
  readonly remaining: number;
  /** When the window ends, Unix milliseconds. */
  readonly endsAt: number;
}

interface Window {
  count: number;
  readonly endsAt: number;
}

/** Windows by bucket. */
export class RateWindows {
  // In the order of their ends: every window has the same length and is put in when it begins.
  readonly #windows = new Map<string, Window>();

  /** Buckets in memory. */
  get size(): number {
    return this.#windows.size;
  }

  /**
   * Counts a request.
   *
   * @param limit requests per window, above zero; may differ from call to call
   * @param now Unix milliseconds
   * @returns not allowed: the request was not counted
   */
  take(bucket: string, limit: number, now: number): Allowance {
    let window = this.#windows.get(bucket);
    // A clock that was set back must not stretch a window.
    if (window === undefined || window.endsAt <= now || window.endsAt - now > WINDOW_MS) {
      window = { count: 0, endsAt: now + WINDOW_MS };
      this.#windows.delete(bucket);
      this.#windows.set(bucket, window);
      this.#forget(now);
    }
    const allowed = window.count < limit;
    if (allowed) window.count++;
    const remaining = Math.max(0, limit - window.count);
    return { allowed, limit, remaining, endsAt: window.endsAt };
  }

  /** Drops windows that have ended, and the oldest where there are too many. */
  #forget(now: number): void {
    for (const [bucket, { endsAt }] of this.#windows) {
      if (endsAt > now && this.#windows.size <= LARGEST_MEMORY) break;
      this.#windows.delete(bucket);
    }
  }
}
