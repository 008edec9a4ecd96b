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
   * How long a read waits for others to travel with, milliseconds; without it only what arrives in
   * the same turn of the event loop travels together.
   */
  readonly lingerMs?: number;
}

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
      void run(batch);
    }
  }

  async function run(batch: ReadonlyMap<string, Waiting<V>>): Promise<void> {
    try {
      const values = await load([...batch.keys()]);
      for (const [key, one] of batch) one.resolve(values.get(key));
    } catch (error) {
      for (const one of batch.values()) one.reject(error);
    } finally {
      running--;
      pump();
    }
  }

  return (key) => {
    const present = waiting.get(key);
    if (present !== undefined) return present.promise;
    const { promise, resolve, reject } = Promise.withResolvers<V | undefined>();
    waiting.set(key, { promise, resolve, reject });
    if (!scheduled && running < concurrency) {
      scheduled = true;
      if (options.lingerMs === undefined) setImmediate(pump);
      else setTimeout(pump, options.lingerMs);
    }
    return promise;
  };
}
