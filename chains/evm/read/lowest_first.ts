/**
 * One place that many wait for. The lowest block comes first: those above it are of no use without it. A look-up of one
 * transaction comes after all blocks that scans wait for, by the height `Infinity`.
 */
export class LowestFirst {
  #isTaken = false;
  readonly #waiting: { readonly height: number; readonly grant: () => void }[] = [];

  /**
   * Takes the place, once it is free.
   *
   * @throws {Error} when the signal goes off before
   */
  async enter(height: number, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw new Error("the caller gave up");
    if (!this.#isTaken) {
      this.#isTaken = true;
      return;
    }
    const { promise, resolve: grant, reject } = Promise.withResolvers<void>();
    const waiter = { height, grant };
    const giveUp = () => {
      const place = this.#waiting.indexOf(waiter);
      if (place < 0) return;
      this.#waiting.splice(place, 1);
      reject(new Error("the caller gave up"));
    };
    this.#waiting.push(waiter);
    signal?.addEventListener("abort", giveUp);
    try {
      await promise;
    } finally {
      signal?.removeEventListener("abort", giveUp);
    }
  }

  /** Leaves the place to the lowest one that waits. */
  leave(): void {
    const heights = this.#waiting.map(({ height }) => height);
    const [next] = this.#waiting.splice(heights.indexOf(Math.min(...heights)), 1);
    if (next === undefined) this.#isTaken = false;
    else next.grant();
  }
}
