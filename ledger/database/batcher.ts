/**
 * One query for many callers: keys that are asked for while a query is under way are collected and
 * read together by the next one. Under load this turns thousands of small reads a second into a
 * few hundred; when idle a read starts at once.
 *
 * A read starts after it was asked for, never before, so a caller sees everything that was
 * committed when it asked.
 *
 * @module
 */

/** Reads the values of many keys; keys without a value are absent from the result. */
export type LoadMany<V> = (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>;

/** Bounds of a batcher. */
export interface BatcherOptions {
  /** Queries under way at the same time; default 2. */
  readonly concurrency?: number;
  /** Most keys of one query; default 500. */
  readonly largest?: number;
  /**
   * Least time from the beginning of one query to that of the next, milliseconds. A read that comes
   * alone starts at once, those of a crowd travel together; a full query waits for nothing. Default
   * 0: only what arrives in the same turn of the event loop, or during a query, travels together.
   */
  readonly spacingMs?: number;
  /** Clock of the spacing; the system's where absent. */
  readonly clock?: BatcherClock;
}

export interface BatcherClock {
  /** Milliseconds that never go back. */
  now(): number;
  /** Runs a function after a while. */
  after(ms: number, what: () => void): void;
}

const SYSTEM_CLOCK: BatcherClock = {
  now: () => performance.now(),
  after: (ms, what) => void setTimeout(what, ms),
};

/** Reads one key, together with whatever others are asking for. */
export type LoadOne<V> = (key: string) => Promise<V | undefined>;

interface Waiting<V> {
  readonly promise: Promise<V | undefined>;
  readonly resolve: (value: V | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Makes a function that reads one key at a time out of one that reads many.
 *
 * @returns the value, or undefined where the key has none; rejects with the query's error
 */
export function batcher<V>(load: LoadMany<V>, options: BatcherOptions = {}): LoadOne<V> {
  const concurrency = options.concurrency ?? 2;
  const largest = options.largest ?? 500;
  const spacingMs = options.spacingMs ?? 0;
  const clock = options.clock ?? SYSTEM_CLOCK;
  let begun = -Infinity;
  let waiting = new Map<string, Waiting<V>>();
  let running = 0;
  let scheduled = false;

  function pump(): void {
    scheduled = false;
    while (running < concurrency && waiting.size > 0) {
      let batch = waiting;
      if (batch.size <= largest) {
        waiting = new Map();
      } else {
        const entries = [...batch];
        batch = new Map(entries.slice(0, largest));
        waiting = new Map(entries.slice(largest));
      }
      running++;
      if (spacingMs > 0) begun = clock.now();
      void run(batch);
    }
  }

  /** Milliseconds that the next query has to wait yet. */
  function remaining(): number {
    if (spacingMs === 0 || waiting.size >= largest) return 0;
    return Math.max(begun + spacingMs - clock.now(), 0);
  }

  function schedule(): void {
    scheduled = true;
    const ms = remaining();
    if (ms > 0) clock.after(ms, pump);
    else setImmediate(pump);
  }

  async function run(batch: ReadonlyMap<string, Waiting<V>>): Promise<void> {
    try {
      const values = await load([...batch.keys()]);
      for (const [key, one] of batch) one.resolve(values.get(key));
    } catch (error) {
      for (const one of batch.values()) one.reject(error);
    } finally {
      running--;
      if (remaining() === 0) pump();
      else if (!scheduled && waiting.size > 0) schedule();
    }
  }

  return (key) => {
    const present = waiting.get(key);
    if (present !== undefined) return present.promise;
    const { promise, resolve, reject } = Promise.withResolvers<V | undefined>();
    waiting.set(key, { promise, resolve, reject });
    if (!scheduled && running < concurrency) schedule();
    return promise;
  };
}
