/**
 * Attempts whose rows something else holds, such as an operator's open transaction: those of each
 * merchant are tried again by themselves, ever more rarely, and no other waits for them. All tries
 * take turns, so that however many are held they occupy one connection.
 *
 * @module
 */

import type { AttemptMark } from "../../ledger/outbox/attempts.ts";

/** Pause before the attempts of a merchant are tried again, milliseconds; doubling. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** Attempts of one merchant. */
interface Held {
  readonly merchantId: string;
  marks: AttemptMark[];
  /** Attempts of the next try: halved when none is written, so that one that is refused is found. */
  width: number;
  pauseMs: number;
  /** Milliseconds of the monotonic clock; null while a try is under way or has its turn. */
  dueAt: number | null;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** Attempts that wait for their rows. */
export class HeldMarks {
  readonly #merchants = new Map<string, Held>();
  readonly #write: (marks: readonly AttemptMark[]) => Promise<readonly AttemptMark[]>;
  #turn: Promise<void> = Promise.resolve();
  #size = 0;

  /** @param write writes attempts of one merchant and returns those that cannot be yet; never throws */
  constructor(write: (marks: readonly AttemptMark[]) => Promise<readonly AttemptMark[]>) {
    this.#write = write;
  }

  /** Attempts that wait. */
  get size(): number {
    return this.#size;
  }

  /** True while attempts of a merchant wait: its next one is likely to as well. */
  holds(merchantId: string): boolean {
    return this.#merchants.has(merchantId);
  }

  /** Lets an attempt wait; it is tried before those that were tried already. */
  add(mark: AttemptMark): void {
    const { merchantId } = mark;
    const held = this.#merchants.get(merchantId) ?? {
      merchantId,
      marks: [],
      width: Infinity,
      pauseMs: FIRST_PAUSE_MS,
      dueAt: null,
      timer: undefined,
    };
    const isNew = !this.#merchants.has(merchantId);
    this.#merchants.set(merchantId, held);
    held.marks.unshift(mark);
    this.#size++;
    if (held.dueAt === null) held.pauseMs = FIRST_PAUSE_MS;
    const isLate = held.dueAt !== null && held.dueAt > performance.now() + FIRST_PAUSE_MS;
    if (isNew || isLate) this.#later(held, FIRST_PAUSE_MS);
  }

  /** Waits no more: leases run out, and the events are delivered again. */
  clear(): void {
    for (const { timer } of this.#merchants.values()) clearTimeout(timer);
    this.#merchants.clear();
    this.#size = 0;
  }

  #later(held: Held, pauseMs: number): void {
    clearTimeout(held.timer);
    held.dueAt = performance.now() + pauseMs;
    held.timer = setTimeout(() => {
      held.dueAt = null;
      this.#turn = this.#turn.then(() => this.#try(held));
    }, pauseMs);
  }

  async #try(held: Held): Promise<void> {
    if (this.#merchants.get(held.merchantId) !== held) return;
    const tried = held.marks.splice(0, held.width);
    held.width = tried.length;
    const left = await this.#write(tried);
    if (this.#merchants.get(held.merchantId) !== held) return;
    const isWritten = left.length < tried.length;
    held.marks.push(...left);
    if (isWritten) {
      this.#size -= tried.length - left.length;
      held.width = tried.length * 2;
      held.pauseMs = FIRST_PAUSE_MS;
    } else {
      held.width = Math.max(tried.length >> 1, 1);
    }
    if (held.marks.length === 0) {
      this.#merchants.delete(held.merchantId);
      return;
    }
    this.#later(held, isWritten ? 0 : held.pauseMs);
    // while the held row is looked for among others, they wait no longer than they must
    if (!isWritten && tried.length === 1) {
      held.pauseMs = Math.min(held.pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }
}
