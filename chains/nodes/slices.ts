/** Work in one go after which others get the thread: what they wait for is due within tens of milliseconds. */
const SLICE_MS = 8;

/** Divides long work into slices between which timers and requests are served. */
export class Slices {
  #since = performance.now();

  /** Gives the thread to others where the present slice is used up. */
  async rest(): Promise<void> {
    if (performance.now() - this.#since < SLICE_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#since = performance.now();
  }
}
