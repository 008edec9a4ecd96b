/** Time after which receipts that no try has asked for make room for those of any other block. */
const KEPT_MS = 5 * 60_000;

/** Bounds of what is kept. */
export interface KeptOptions {
  /** Sources of one block that are kept apart; further ones take the place of the oldest. */
  readonly sources: number;
  /** Milliseconds of a clock that is never set; default `performance.now`. */
  readonly monotonic?: (() => number) | undefined;
}

/** Receipts of a block that have come one by one in earlier tries: only those of the lowest block that is still tried. */
export class KeptReceipts<Receipt> {
  readonly #options: KeptOptions;
  readonly #bySource = new Map<string, Map<string, Receipt>>();
  #height: number | null = null;
  #usedAt = 0;

  constructor(options: KeptOptions) {
    this.#options = options;
  }

  /**
   * Receipts of a block that have come, by their transactions; what is added is kept.
   *
   * @param source of what is kept together, such as the hash of a block
   */
  of(height: number, source: string): Map<string, Receipt> {
    const now = (this.#options.monotonic ?? (() => performance.now()))();
    const kept = height === this.#height ? this.#bySource.get(source) : undefined;
    if (kept !== undefined) {
      this.#usedAt = now;
      return kept;
    }
    const receipts = new Map<string, Receipt>();
    const isKept = this.#height === null || this.#height >= height ||
      now - this.#usedAt >= KEPT_MS;
    if (!isKept) return receipts;
    if (this.#height !== height) this.#bySource.clear();
    const [oldest] = this.#bySource.keys();
    if (this.#bySource.size >= this.#options.sources && oldest !== undefined) {
      this.#bySource.delete(oldest);
    }
    this.#bySource.set(source, receipts);
    this.#height = height;
    this.#usedAt = now;
    return receipts;
  }

  /** Drops the receipts of a block that one source has given. */
  drop(height: number, source: string): void {
    if (this.#height === height) this.#bySource.delete(source);
  }

  /** Drops all receipts of a block. */
  forget(height: number): void {
    if (this.#height !== height) return;
    this.#height = null;
    this.#bySource.clear();
  }
}
