/** The time that questions to nodes have. */
export interface TimeBound {
  /** Ends what is asked. */
  readonly signal: AbortSignal;
  readonly isOver: boolean;
}

/** The time that a part of a poll has: what it has not begun by then is left for the next poll. */
export class PartBound implements TimeBound {
  readonly #end: number;
  /** Ends the questions of the part with its time. */
  readonly signal: AbortSignal;

  /** @param ms of the whole part */
  constructor(ms: number) {
    this.#end = performance.now() + ms;
    this.signal = AbortSignal.timeout(ms);
  }

  get leftMs(): number {
    return Math.max(0, this.#end - performance.now());
  }

  get isOver(): boolean {
    return this.leftMs === 0;
  }

  /** A signal that ends sooner, so that one question does not take the time of all. */
  within(ms: number): AbortSignal {
    return AbortSignal.any([this.signal, AbortSignal.timeout(ms)]);
  }
}
