/** Time for which a turn of an actor waits for what is asked aside, milliseconds: nodes that are near have answered by then. */
const WAIT_MS = 250;
/** The longest that it may go on without the turns, milliseconds. */
const GOES_ON_MS = 10_000;

/**
 * Questions to nodes that no turn of an actor has to wait for: what is answered late counts in a later turn. One round of
 * them is under way at a time.
 */
export class Aside {
  #underWay: Promise<void> | null = null;
  /** Thrown by a round that no turn was waiting for any more. */
  #failure: { readonly error: unknown } | null = null;

  /**
   * Begins a round unless one is under way, and waits for it for a moment.
   *
   * @param ask asks until the signal; keeps what it finds out
   * @throws what a round failed with, also an earlier one
   */
  async run(ask: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.#underWay ??= this.#begin(ask);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const isLate = new Promise<void>((resolve) => timer = setTimeout(resolve, WAIT_MS));
    await Promise.race([this.#underWay, isLate]);
    clearTimeout(timer);
    const failure = this.#failure;
    this.#failure = null;
    if (failure !== null) throw failure.error;
  }

  async #begin(ask: (signal: AbortSignal) => Promise<void>): Promise<void> {
    try {
      await ask(AbortSignal.timeout(GOES_ON_MS));
    } catch (error) {
      this.#failure = { error };
    } finally {
      this.#underWay = null;
    }
  }
}
