/**
 * Writes attempts down in batches: what ends while one write is under way goes with the next.
 *
 * A database that is away is waited for. Attempts of which something else holds a row are not
 * written with the others of their batch but tried apart. Where a wait is in vain for another reason,
 * the merchants of the batch are halved until the one that it is for stands alone. Whatever else the
 * database refuses is not repeated for ever: the batch is halved until the attempt that it cannot keep
 * stands alone, which is written without the endpoint's words, and given up with an alarm when even
 * that fails. Its lease runs out then, and its event is delivered again.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import { classifyDatabaseError, isLocked } from "../../ledger/database/database_errors.ts";
import type { AttemptMark, Marked } from "../../ledger/outbox/attempts.ts";
import type { Outbox } from "../../ledger/outbox/outbox.ts";
import { delay } from "../../ledger/database/delay.ts";
import { HeldMarks } from "./held_marks.ts";

/** Attempts written by one statement. */
const LARGEST_BATCH = 500;

/**
 * From the begin of one write to the next, milliseconds: the first attempt after a pause is written at
 * once, and where many end they share the cost of a write.
 */
const PACE_MS = 15;

/** Pauses before a write is repeated because the database is away, milliseconds; doubling. */
const FIRST_RETRY_MS = 200;
const LONGEST_RETRY_MS = 5_000;

/** Outcome of an attempt whose own words the database refused. */
const UNREADABLE = "unreadable_answer";

/** Collects attempts and writes them down. */
export class AttemptMarker {
  readonly #waiting = new Set<AttemptMark>();
  #running: Promise<void> | null = null;
  #closing = false;
  #lost = 0;
  /** Attempts that are not written down, per merchant. */
  readonly #unwritten = new Map<string, number>();
  readonly #held = new HeldMarks((marks) => this.#writeHeld(marks));

  /**
   * @param onMarked called with every batch after its commit, and with the merchants that may be owed
   * a second chance and whose endpoints acknowledge again
   */
  constructor(
    private readonly outbox: Pick<Outbox, "mark">,
    private readonly onMarked: (
      marks: readonly AttemptMark[],
      recovered: readonly string[],
    ) => void,
  ) {}

  /** Attempts that are not written down yet. */
  get size(): number {
    return this.#waiting.size + this.#held.size;
  }

  /** True while something else holds rows of a merchant, as far as is known. */
  holds(merchantId: string): boolean {
    return this.#held.holds(merchantId);
  }

  /** Attempts of a merchant that are not written down yet. */
  of(merchantId: string): number {
    return this.#unwritten.get(merchantId) ?? 0;
  }

  /** Attempts among them whose rows something else holds. */
  get held(): number {
    return this.#held.size;
  }

  /** Attempts that the database refused to keep. */
  get lost(): number {
    return this.#lost;
  }

  add(mark: AttemptMark): void {
    this.#unwritten.set(mark.merchantId, this.of(mark.merchantId) + 1);
    if (this.#held.holds(mark.merchantId) && !this.#closing) return this.#held.add(mark);
    this.#waiting.add(mark);
    this.#running ??= this.#run();
  }

  /**
   * Waits until everything is written; a write that fails from now on is not repeated, and what cannot
   * be locked is left to its lease, which runs out.
   */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#running;
    this.#held.clear();
    this.#unwritten.clear();
  }

  async #run(): Promise<void> {
    // What ends in the same turn of the event loop is written together.
    await new Promise((resolve) => setImmediate(resolve));
    let pause = FIRST_RETRY_MS;
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting.values().take(LARGEST_BATCH)];
      const startedAt = performance.now();
      try {
        await this.#write(batch);
        pause = FIRST_RETRY_MS;
        await this.#pause(startedAt + PACE_MS - performance.now());
      } catch (error) {
        logEvent("callback.marks_failed", { count: batch.length, error });
        // Their leases run out, and they are delivered again: at least once.
        if (this.#closing) this.#settle([...this.#waiting]);
        else await delay(pause);
        pause = Math.min(pause * 2, LONGEST_RETRY_MS);
      }
    }
    this.#running = null;
  }

  async #pause(ms: number): Promise<void> {
    if (this.#closing || ms <= 0 || this.#waiting.size >= LARGEST_BATCH) return;
    await delay(ms);
  }

  /**
   * Writes a batch, in parts where the database refuses it.
   *
   * @throws when the database is away; what is not written then still waits
   */
  async #write(batch: readonly AttemptMark[]): Promise<void> {
    const marks = this.#closing ? batch : this.#withoutHeld(batch);
    const [first] = marks;
    if (first === undefined) return;
    try {
      this.#hold(await this.#mark(marks), "a row is held");
    } catch (error) {
      if (classifyDatabaseError(error) === "connection") throw error;
      if (isWaiting(error)) {
        // each part would wait in vain again, and the process is about to end
        if (this.#closing) return this.#settle(marks);
        const merchants = [...new Set(marks.map(({ merchantId }) => merchantId))];
        if (merchants.length === 1) return this.#hold(marks, error);
        const half = new Set(merchants.slice(0, merchants.length >> 1));
        await this.#write(marks.filter(({ merchantId }) => half.has(merchantId)));
        await this.#write(marks.filter(({ merchantId }) => !half.has(merchantId)));
      } else if (marks.length > 1) {
        const middle = marks.length >> 1;
        await this.#write(marks.slice(0, middle));
        await this.#write(marks.slice(middle));
      } else {
        try {
          this.#hold(await this.#writePlain(first, error), "a row is held");
        } catch (plainError) {
          if (!isWaiting(plainError)) throw plainError;
          this.#hold([first], plainError);
        }
      }
    }
  }

  /** Writes attempts down. @returns those that cannot be, as something else holds a row */
  async #mark(marks: readonly AttemptMark[]): Promise<readonly AttemptMark[]> {
    const { recovered, held } = await this.outbox.mark(marks);
    const left = new Set(held);
    const written = held.length === 0 ? marks : marks.filter((mark) => !left.has(mark));
    this.#settle(written);
    this.onMarked(written, recovered);
    return held;
  }

  /** Counts attempts as no longer waiting to be written. */
  #settle(marks: readonly AttemptMark[]): void {
    for (const mark of marks) {
      this.#waiting.delete(mark);
      const left = this.of(mark.merchantId) - 1;
      if (left > 0) this.#unwritten.set(mark.merchantId, left);
      else this.#unwritten.delete(mark.merchantId);
    }
  }

  /** A batch without the attempts of merchants with held rows: those wait with the ones before them. */
  #withoutHeld(batch: readonly AttemptMark[]): readonly AttemptMark[] {
    return batch.filter((mark) => {
      if (!this.#held.holds(mark.merchantId)) return true;
      this.#letWait(mark);
      return false;
    });
  }

  #hold(marks: readonly AttemptMark[], reason: unknown): void {
    if (marks.length === 0) return;
    if (this.#closing) return this.#settle(marks);
    logEvent("callback.marks_held", {
      count: marks.length,
      merchantIds: [...new Set(marks.map(({ merchantId }) => merchantId))],
      reason,
    });
    for (const mark of marks) this.#letWait(mark);
  }

  #letWait(mark: AttemptMark): void {
    this.#waiting.delete(mark);
    this.#held.add(mark);
  }

  /** Writes attempts of one merchant that were held. @returns those that still are */
  async #writeHeld(marks: readonly AttemptMark[]): Promise<readonly AttemptMark[]> {
    const [first] = marks;
    try {
      return await this.#mark(marks);
    } catch (error) {
      if (first === undefined || marks.length > 1 || isPassing(error)) return marks;
      return await this.#writePlain(first, error).catch(() => marks);
    }
  }

  /**
   * Writes an attempt without the endpoint's words, and gives it up where even that is refused.
   *
   * @returns the attempt where something else holds a row
   * @throws when the database is away, or a wait was in vain
   */
  async #writePlain(mark: AttemptMark, reason: unknown): Promise<readonly AttemptMark[]> {
    const { eventId, attempt } = mark;
    logEvent("callback.mark_refused", { attempt, eventId, reason });
    const plain: AttemptMark = { ...mark, outcome: UNREADABLE, answer: null };
    let marked: Marked;
    try {
      marked = await this.outbox.mark([plain]);
    } catch (error) {
      if (isPassing(error)) throw error;
      this.#settle([mark]);
      this.#lost++;
      logEvent("callback.mark_given_up", {
        attempt,
        eventId,
        error,
      });
      return [];
    }
    if (marked.held.length > 0) return [mark];
    this.#settle([mark]);
    this.onMarked([plain], marked.recovered);
    return [];
  }
}

/** True if nothing is wrong with what was to be written. */
function isPassing(error: unknown): boolean {
  return classifyDatabaseError(error) === "connection" || isWaiting(error);
}

/** True if a row that something else holds was waited for in vain. */
function isWaiting(error: unknown): boolean {
  return isLocked(error) || classifyDatabaseError(error) === "serialization";
}
