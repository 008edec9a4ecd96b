/** Sends batches one after the other, while whoever hands them over is at the next. */
export class Sending<T> {
  readonly #send: (batch: T) => Promise<void>;
  #last: Promise<void> = Promise.resolve();
  readonly #failures: unknown[] = [];

  constructor(send: (batch: T) => Promise<void>) {
    this.#send = send;
  }

  /** Sends a batch after those before it, also when one of them failed. */
  begin(batch: T): void {
    this.#last = this.#last.then(() => this.#send(batch)).catch((error: unknown) => {
      this.#failures.push(error);
    });
  }

  /** Resolves when everything that was handed over is sent, or has failed. */
  async settled(): Promise<void> {
    await this.#last;
  }

  /** As {@linkcode settled}. @throws what the first batch that failed did */
  async end(): Promise<void> {
    await this.#last;
    if (this.#failures.length > 0) throw this.#failures[0];
  }
}
