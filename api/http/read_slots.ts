import type { Sql } from "../../ledger/database/connect.ts";

/** Returns a slot; later calls change nothing. */
export type Release = () => void;

/** Settings by which {@linkcode ReadSlots} shares its slots. */
export interface ReadSlotOptions {
  /** Lists that are read at a time. */
  readonly slots: number;
  /** Of them, those of one merchant. */
  readonly perMerchant: number;
  /** Milliseconds for which a list waits for its turn. */
  readonly waitMs: number;
  /** Lists of one merchant that wait; one more is turned away at once. Absent: no bound. */
  readonly waitingPerMerchant?: number;
}

/** Starts a request that waited, with its slot. */
type Start = (release: Release) => void;

/**
 * Bounds how many lists are read at a time, so that a waiting request hears soon that it has to
 * come back, and shares the slots among merchants: one whose lists take long waits behind itself.
 * Merchants that wait stand in a row, and each leaves it for its end with a turn: next is the first with
 * a slot left, of its lists the oldest. So a merchant that waits has at most one turn of each other before it,
 * and one that was never seen before, as any made-up token of a page is, goes before none that waits already.
 */
export class ReadSlots {
  readonly #options: ReadSlotOptions;
  readonly #held = new Map<string, number>();
  /** The row of merchants: by each its requests, oldest first, and none of them is empty. */
  readonly #waiting = new Map<string, Set<Start>>();
  #used = 0;
  #refused = 0;

  constructor(options: ReadSlotOptions) {
    this.#options = options;
  }

  /** Lists under way, waiting, and turned away so far. */
  get figures(): { readonly used: number; readonly waiting: number; readonly refused: number } {
    let waiting = 0;
    for (const starts of this.#waiting.values()) waiting += starts.size;
    return { used: this.#used, waiting, refused: this.#refused };
  }

  /**
   * True where as many requests of a merchant wait as may.
   *
   * @param kept how many of these it leaves to more urgent requests
   */
  hasLongQueue(merchantId: string, kept = 0): boolean {
    const waiting = this.#waiting.get(merchantId)?.size ?? 0;
    return waiting >= (this.#options.waitingPerMerchant ?? Infinity) - kept;
  }

  /** True where another merchant than this one holds a slot or waits for one. */
  isSharedWithOthers(merchantId: string): boolean {
    return [this.#held, this.#waiting].some((some) => some.size > (some.has(merchantId) ? 1 : 0));
  }

  /**
   * Waits for a slot; null where none was free in time, or too many of the merchant wait already.
   *
   * @param kept of those that may wait, how many are left to more urgent requests
   */
  take(merchantId: string, kept = 0): Promise<Release | null> {
    if (this.#isFree(merchantId)) return Promise.resolve(this.#give(merchantId));
    if (this.hasLongQueue(merchantId, kept)) {
      this.#refused++;
      return Promise.resolve(null);
    }
    return new Promise((resolve) => {
      const late = setTimeout(() => {
        this.#leave(merchantId, start);
        this.#refused++;
        resolve(null);
      }, this.#options.waitMs);
      const start: Start = (release) => {
        clearTimeout(late);
        resolve(release);
      };
      const waiting = this.#waiting.get(merchantId);
      if (waiting === undefined) this.#waiting.set(merchantId, new Set([start]));
      else waiting.add(start);
    });
  }

  #leave(merchantId: string, start: Start): void {
    const waiting = this.#waiting.get(merchantId);
    waiting?.delete(start);
    if (waiting?.size === 0) this.#waiting.delete(merchantId);
  }

  #isFree(merchantId: string): boolean {
    return this.#used < this.#options.slots &&
      (this.#held.get(merchantId) ?? 0) < this.#options.perMerchant;
  }

  #give(merchantId: string): Release {
    this.#used++;
    this.#goToTheEnd(merchantId);
    this.#held.set(merchantId, (this.#held.get(merchantId) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#used--;
      const left = (this.#held.get(merchantId) ?? 1) - 1;
      if (left === 0) this.#held.delete(merchantId);
      else this.#held.set(merchantId, left);
      // also with the end of a turn: who came while it lasted is next
      this.#goToTheEnd(merchantId);
      this.#next();
    };
  }

  /** Lets all others that wait go first. */
  #goToTheEnd(merchantId: string): void {
    const waiting = this.#waiting.get(merchantId);
    if (waiting === undefined) return;
    this.#waiting.delete(merchantId);
    this.#waiting.set(merchantId, waiting);
  }

  #next(): void {
    const next = this.#waiting.keys().find((merchantId) => this.#isFree(merchantId));
    const [start] = next === undefined ? [] : this.#waiting.get(next) ?? [];
    if (next === undefined || start === undefined) return;
    this.#leave(next, start);
    start(this.#give(next));
  }
}

export interface ApiPools {
  /** For keys, and for what writes. */
  readonly requests: Sql;
  /** For hosted pages, which anybody may ask for. */
  readonly pages: Sql;
  /** For what merchants and resellers list. */
  readonly reads: Sql;
  /** For administrators. */
  readonly operators: Sql;
  readonly slots: ReadSlots;
}
