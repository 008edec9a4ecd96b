/**
 * Aborts what is under way after a while, unless it has ended before. `AbortSignal.timeout` cannot be
 * taken back: it goes off seconds later, makes an error with its stack, and calls listeners that no
 * longer wait; with hundreds of requests a second that is a twentieth of what the service does.
 */
export class Deadline implements Disposable {
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout>;

  /** @param ms from now, below 2^31, which is 24 days: a timer of more goes off at once */
  constructor(ms: number) {
    this.#timer = setTimeout(() => this.#controller.abort(), ms);
  }

  /** Puts it off, unless it is over. @param ms from now */
  restart(ms: number): void {
    if (this.isOver) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#controller.abort(), ms);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** True if the time has passed. */
  get isOver(): boolean {
    return this.signal.aborted;
  }

  /** Both this and what the caller may give up by. */
  with(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined ? this.signal : AbortSignal.any([signal, this.signal]);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
