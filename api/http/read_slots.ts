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

/** Merchants whose last turn is remembered; of more the one without a turn for longest is forgotten. */
const MOST_REMEMBERED = 1_000;

/**
 * Bounds how many lists are read at a time, so that a waiting request hears soon that it has to
 * come back, and shares the slots among merchants: one whose lists take long waits behind itself.
 * Merchants have turns: next is the one that has had none for longest, of its lists the oldest.
 */
export class ReadSlots {
  readonly #options: ReadSlotOptions;
  readonly #held = new Map<string, number>();
  /** By merchant, oldest first; none of them is empty. */
  readonly #waiting = new Map<string, Set<Start>>();
  /** Number of the last turn of merchants, oldest first. */
  readonly #turns = new Map<string, number>();
  #turn = 0;
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

  /** True where as many requests of a merchant wait as may. */
  hasLongQueue(merchantId: string): boolean {
    const waiting = this.#waiting.get(merchantId)?.size ?? 0;
    return waiting >= (this.#options.waitingPerMerchant ?? Infinity);
  }

  /** True where another merchant than this one holds a slot or waits for one. */
  isSharedWithOthers(merchantId: string): boolean {
    return [this.#held, this.#waiting].some((some) => some.size > (some.has(merchantId) ? 1 : 0));
  }

  /** Waits for a slot; null where none was free in time, or too many of the merchant wait already. */
  take(merchantId: string): Promise<Release | null> {
    if (this.#isFree(merchantId)) return Promise.resolve(this.#give(merchantId));
    if (this.hasLongQueue(merchantId)) {
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
    this.#noteTurn(merchantId);
    this.#held.set(merchantId, (this.#held.get(merchantId) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#used--;
      const left = (this.#held.get(merchantId) ?? 1) - 1;
      if (left === 0) this.#held.delete(merchantId);
      else this.#held.set(merchantId, left);
      this.#next();
    };
  }

  #noteTurn(merchantId: string): void {
    this.#turns.delete(merchantId);
    this.#turns.set(merchantId, ++this.#turn);
    const [oldest] = this.#turns.keys();
    if (this.#turns.size > MOST_REMEMBERED && oldest !== undefined) this.#turns.delete(oldest);
  }

  /**
   * Starts the oldest request of the merchant that has had no turn for longest, of those with a slot left;
   * among those without any, of the one that waits longest.
   */
  #next(): void {
    let [next, lastTurn]: [string | null, number] = [null, Infinity];
    for (const merchantId of this.#waiting.keys()) {
      const turn = this.#turns.get(merchantId) ?? 0;
      if (turn < lastTurn && this.#isFree(merchantId)) [next, lastTurn] = [merchantId, turn];
    }
    const [start] = next === null ? [] : this.#waiting.get(next) ?? [];
    if (next === null || start === undefined) return;
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
