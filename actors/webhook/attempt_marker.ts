/**
 * Writes attempts down in batches: what ends while one write is under way goes with the next.
 *
 * A database that is away, or busy with others, is waited for. What it refuses is not repeated for
 * ever: the batch is halved until the attempt that it cannot keep stands alone; that one is written
 * without the endpoint's words, and given up with an alarm when even that fails. Its lease runs out
 * then, and its event is delivered again.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import { classifyDatabaseError } from "../../ledger/database/classify_database_error.ts";
import type { AttemptMark, Outbox } from "../../ledger/outbox/outbox.ts";

const log = getLogger(["engine", "webhook"]);

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
  #waiting: AttemptMark[] = [];
  #running: Promise<void> | null = null;
  #closing = false;
  #lost = 0;

  /**
   * @param onMarked is told of every batch after its commit, and of the merchants that may be owed a
   * second chance and whose endpoints acknowledge again
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
    return this.#waiting.length;
  }

  /** Attempts that the database refused to keep. */
  get lost(): number {
    return this.#lost;
  }

  /** Notes one attempt. */
  add(mark: AttemptMark): void {
    this.#waiting.push(mark);
    this.#running ??= this.#run();
  }

  /** Waits until everything is written; a write that fails from now on is not repeated. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    // What ends in the same turn of the event loop is written together.
    await new Promise((resolve) => setImmediate(resolve));
    let pause = FIRST_RETRY_MS;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, LARGEST_BATCH);
      const startedAt = performance.now();
      try {
        await this.#write(batch);
        this.#waiting = this.#waiting.slice(batch.length);
        pause = FIRST_RETRY_MS;
        await this.#rest(startedAt + PACE_MS - performance.now());
      } catch (error) {
        log.error("cannot write down {count} deliveries: {error}", { count: batch.length, error });
        // Their leases run out, and they are delivered again: at least once.
        if (this.#closing) this.#waiting = [];
        else await new Promise((resolve) => setTimeout(resolve, pause));
        pause = Math.min(pause * 2, LONGEST_RETRY_MS);
      }
    }
    this.#running = null;
  }

  async #rest(ms: number): Promise<void> {
    if (this.#closing || ms <= 0 || this.#waiting.length >= LARGEST_BATCH) return;
    await new Promise((resolve) => setTimeout(resolve, ms));
  }

  /**
   * Writes a batch, in halves where the database refuses it.
   *
   * @throws when the database is away; what was written already may be written again
   */
  async #write(batch: readonly AttemptMark[]): Promise<void> {
    try {
      this.onMarked(batch, await this.outbox.mark(batch));
    } catch (error) {
      if (isPassing(error)) throw error;
      const [first] = batch;
      if (batch.length > 1) {
        const middle = batch.length >> 1;
        await this.#write(batch.slice(0, middle));
        await this.#write(batch.slice(middle));
      } else if (first !== undefined) {
        await this.#writePlain(first, error);
      }
    }
  }

  async #writePlain(mark: AttemptMark, reason: unknown): Promise<void> {
    const { eventId, attempt } = mark;
    log.error("attempt {attempt} of {eventId} is refused by the database: {reason}", {
      attempt,
      eventId,
      reason,
    });
    const plain: AttemptMark = { ...mark, outcome: UNREADABLE, answer: null };
    try {
      this.onMarked([plain], await this.outbox.mark([plain]));
    } catch (error) {
      if (isPassing(error)) throw error;
      this.#lost++;
      log.error("attempt {attempt} of {eventId} is given up, its event is sent again: {error}", {
        attempt,
        eventId,
        error,
      });
    }
  }
}

/** Whether nothing is wrong with what was to be written. */
function isPassing(error: unknown): boolean {
  const kind = classifyDatabaseError(error);
  return kind === "connection" || kind === "serialization";
}
