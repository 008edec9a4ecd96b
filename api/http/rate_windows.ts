/**
 * Counting requests per minute, in memory and per node: behind a balancer a merchant may have the
 * published number of requests on each node. A window begins with the first request of its bucket.
 *
 * @module
 */

/** Pages that are remembered at most; about 150 bytes each. */
const MOST = 100_000;

/**
 * Hosted pages that are known on this node to exist, by the hash of their session's token. A token
 * is as long, and as new each time, as its sender likes: only a session that was made or found may
 * have a limit of its own.
 */
export class KnownSessions {
  // in the order in which they were found: pages are open for minutes, so the first are the oldest
  readonly #hashes = new Set<string>();

  /** True where the session is known to exist. */
  has(hash: string): boolean {
    return this.#hashes.has(hash);
  }

  /** Remembers a session, forgetting the oldest where there are too many. */
  add(hash: string): void {
    this.#hashes.add(hash);
    if (this.#hashes.size <= MOST) return;
    const [oldest] = this.#hashes;
    if (oldest !== undefined) this.#hashes.delete(oldest);
  }
}

export const WINDOW_MS = 60_000;

/** Buckets with a window of their own at most; about 100 bytes each. */
const LARGEST_MEMORY = 100_000;

/** Windows that buckets share for which there is no room. */
const SHARED = 1_024;

/** The rest of a bucket after a request. */
export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  /** Requests left in the window. */
  readonly remaining: number;
  /** End of the window, Unix milliseconds. */
  readonly endsAt: number;
  /** The window that it was counted in: the bucket's own, or one that it shares. */
  readonly window: string;
}

interface Window {
  count: number;
  readonly endsAt: number;
  /** True where large answers have used it up. */
  isOverdrawn: boolean;
}

export class RateWindows {
  // In the order of their ends: every window has the same length and is put in when it begins.
  readonly #windows = new Map<string, Window>();
  /** Unknown outside, so that no bucket can be chosen to share another's window. */
  readonly #seed = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;

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
    let name = bucket;
    let window = this.#live(name, now);
    if (window === null) {
      this.#forget(now);
      // a window that lasts is never given up: a flood of buckets would free those that it pushes out
      if (this.#windows.size >= LARGEST_MEMORY) {
        name = this.#sharedBy(bucket);
        window = this.#live(name, now);
      }
      window ??= this.#begin(name, now);
    }
    const allowed = window.count < limit;
    if (allowed) window.count++;
    const remaining = Math.max(0, limit - window.count);
    return { allowed, limit, remaining, endsAt: window.endsAt, window: name };
  }

  /**
   * Counts more requests in a window, as many as are left of it.
   *
   * @param name the window it was counted in, see {@linkcode Allowance}
   * @returns requests left; null: others have used it up meanwhile, and nothing was counted
   */
  weigh(name: string, limit: number, requests: number): number | null {
    const window = this.#windows.get(name);
    if (window === undefined) return limit;
    if (window.isOverdrawn) return null;
    window.isOverdrawn = window.count + requests > limit;
    window.count = Math.max(window.count, Math.min(limit, window.count + requests));
    return Math.max(0, limit - window.count);
  }

  /** True where large answers have used up a window. */
  isOverdrawn(name: string): boolean {
    return this.#windows.get(name)?.isOverdrawn ?? false;
  }

  /**
   * Takes one request out of a window again.
   *
   * @param endsAt when the window it was counted in ends; a later one of its name is left alone
   */
  giveBack(name: string, endsAt: number): void {
    const window = this.#windows.get(name);
    if (window?.endsAt === endsAt) window.count = Math.max(0, window.count - 1);
  }

  /** The window of a name that lasts; null: there is none. */
  #live(name: string, now: number): Window | null {
    const window = this.#windows.get(name);
    return window !== undefined && lasts(window, now) ? window : null;
  }

  #begin(name: string, now: number): Window {
    const window = { count: 0, endsAt: now + WINDOW_MS, isOverdrawn: false };
    this.#windows.delete(name);
    this.#windows.set(name, window);
    return window;
  }

  /** Drops windows that have ended. */
  #forget(now: number): void {
    for (const [name, window] of this.#windows) {
      if (lasts(window, now)) break;
      this.#windows.delete(name);
    }
  }

  #sharedBy(bucket: string): string {
    let hash = this.#seed;
    for (let i = 0; i < bucket.length; i++) {
      hash = Math.imul(hash ^ bucket.charCodeAt(i), 0x01000193);
    }
    return `shared ${(hash >>> 8) % SHARED}`;
  }
}

/** A clock that was set back must not stretch a window. */
function lasts({ endsAt }: Window, now: number): boolean {
  return endsAt > now && endsAt - now <= WINDOW_MS;
}
