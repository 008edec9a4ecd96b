/** State of connections that wait for one another: those of a pool for statements, or for transactions. */
export interface PoolFigures {
  /** Most connections at a time. */
  readonly limit: number;
  /** Connections that are open or being opened. */
  readonly open: number;
  /** Those of which an answer is awaited. */
  readonly busy: number;
  /** For how long every connection has been busy without a break, milliseconds; 0: one is free. */
  readonly exhaustedMs: number;
}

/** Counts the connections of a pool. */
export class PoolState {
  readonly #limit: number;
  readonly #now: () => number;
  readonly #states = new Map<object, "idle" | "busy">();
  #busy = 0;
  #exhaustedSince: number | null = null;

  /** @param now monotonic milliseconds */
  constructor(limit: number, now: () => number) {
    this.#limit = limit;
    this.#now = now;
  }

  /** Notes what a connection does now. */
  changed(connection: object, state: "idle" | "busy" | "gone"): void {
    if (this.#states.get(connection) === "busy") this.#busy--;
    if (state === "gone") this.#states.delete(connection);
    else this.#states.set(connection, state);
    if (state === "busy") this.#busy++;
    if (this.#busy < this.#limit) this.#exhaustedSince = null;
    else this.#exhaustedSince ??= this.#now();
  }

  /** The pool's state now. */
  get figures(): PoolFigures {
    return {
      limit: this.#limit,
      open: this.#states.size,
      busy: this.#busy,
      exhaustedMs: this.#exhaustedSince === null ? 0 : this.#now() - this.#exhaustedSince,
    };
  }
}
