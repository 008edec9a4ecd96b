/**
 * Writes attempts down in batches: what ends while one write is under way goes with the next.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { AttemptMark, Outbox } from "../../ledger/outbox/outbox.ts";

const log = getLogger(["engine", "webhook"]);

/** Attempts written by one statement. */
const LARGEST_BATCH = 500;

/** Pause before a write that failed is repeated, milliseconds. */
const RETRY_MS = 200;

/** Collects attempts and writes them down. */
export class AttemptMarker {
  #waiting: AttemptMark[] = [];
  #running: Promise<void> | null = null;
  #closing = false;

  /**
   * @param onMarked is told of every batch after its commit
   */
  constructor(
    private readonly outbox: Outbox,
    private readonly onMarked: (marks: readonly AttemptMark[]) => void,
  ) {}

  /** Attempts that are not written down yet. */
  get size(): number {
    return this.#waiting.length;
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
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, LARGEST_BATCH);
      try {
        await this.outbox.mark(batch);
        this.#waiting = this.#waiting.slice(batch.length);
        this.onMarked(batch);
      } catch (error) {
        log.error("cannot write down {count} deliveries: {error}", { count: batch.length, error });
        // Their leases run out, and they are delivered again: at least once.
        if (this.#closing) this.#waiting = [];
        else await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    this.#running = null;
  }
}
