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
}

interface Waiting {
  readonly merchantId: string;
  readonly start: (release: Release) => void;
}

/**
 * Bounds how many lists are read at a time, so that a waiting request hears soon that it has to
 * come back, and shares the slots among merchants: one whose lists take long waits behind itself.
 */
export class ReadSlots {
  readonly #options: ReadSlotOptions;
  readonly #held = new Map<string, number>();
  readonly #waiting: Waiting[] = [];
  #used = 0;
  #refused = 0;
  /** The merchant that the newest slot was given to. */
  #last = "";

  constructor(options: ReadSlotOptions) {
    this.#options = options;
  }

  /** Lists under way, waiting, and turned away so far. */
  get figures(): { readonly used: number; readonly waiting: number; readonly refused: number } {
    return { used: this.#used, waiting: this.#waiting.length, refused: this.#refused };
  }

  /** Waits for a slot; null where none was free in time. */
  take(merchantId: string): Promise<Release | null> {
    if (this.#isFree(merchantId)) return Promise.resolve(this.#give(merchantId));
    return new Promise((resolve) => {
      const late = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        this.#refused++;
        resolve(null);
      }, this.#options.waitMs);
      const waiting: Waiting = {
        merchantId,
        start: (release) => {
          clearTimeout(late);
          resolve(release);
        },
      };
      this.#waiting.push(waiting);
    });
  }

  #isFree(merchantId: string): boolean {
    return this.#used < this.#options.slots &&
      (this.#held.get(merchantId) ?? 0) < this.#options.perMerchant;
  }

  #give(merchantId: string): Release {
    this.#used++;
    this.#last = merchantId;
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

  /**
   * The one that waits longest among those whose merchant has a slot left: of another merchant than the
   * one before, if there is any, so that one which asks for many at once does not have all turns.
   */
  #next(): void {
    const free = ({ merchantId }: Waiting) => this.#isFree(merchantId);
    const other = this.#waiting.findIndex((one) => one.merchantId !== this.#last && free(one));
    const index = other < 0 ? this.#waiting.findIndex(free) : other;
    const [next] = index < 0 ? [] : this.#waiting.splice(index, 1);
    next?.start(this.#give(next.merchantId));
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
