/**
 * The chain's state as keys and texts, with changes layered over it: a transaction over its block,
 * a block over what is stored. Throwing a layer away is how a failed call moves nothing.
 *
 * @module
 */

/** Anything a key can be looked up in. */
export interface StateReader {
  /** The value of a key, undefined where there is none. */
  get(key: string): string | undefined;
}

/** Changed keys with their new values; undefined marks a removed key. */
export type Changes = ReadonlyMap<string, string | undefined>;

/** Changes over another state. */
export class Overlay implements StateReader {
  readonly #below: StateReader;
  readonly #changes = new Map<string, string | undefined>();

  constructor(below: StateReader) {
    this.#below = below;
  }

  get(key: string): string | undefined {
    return this.#changes.has(key) ? this.#changes.get(key) : this.#below.get(key);
  }

  /** Sets a key, or removes it when the value is undefined. */
  set(key: string, value: string | undefined): void {
    this.#changes.set(key, value);
  }

  /** The changes of this layer. */
  changes(): Changes {
    return this.#changes;
  }

  /** Moves this layer's changes into the one below it. */
  mergeInto(target: Overlay): void {
    for (const [key, value] of this.#changes) target.set(key, value);
  }
}
