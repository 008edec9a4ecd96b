import type { EventName } from "../../log/event_table.ts";
import { logEvent } from "../../log/log_event.ts";

/** A failure that goes on is logged again after this long; one that comes after as long is a new one. */
const AGAIN_MS = 600_000;
/** Reasons of one failure that are logged when they are met first; further ones are only counted. */
const MOST_REASONS = 8;

/**
 * Logs what may fail at every attempt: when it begins to fail, when a new reason comes, every ten minutes
 * with the number of failures, and when it works again. However often it is tried, the log shows changes.
 */
export class LastingFailure {
  readonly #event: EventName;
  readonly #subject: string;
  readonly #now: () => number;
  readonly #reasons = new Set<string>();
  #count = 0;
  #failedAt = 0;
  #loggedAt = 0;

  /**
   * @param event logged for each new reason
   * @param subject names what fails in the lines that count
   * @param now monotonic clock, milliseconds
   */
  constructor(event: EventName, subject: string, now: () => number = () => performance.now()) {
    this.#event = event;
    this.#subject = subject;
    this.#now = now;
  }

  /** Counts a failed attempt. @param fields of the event; its reason by default */
  failed(reason: unknown, fields: Readonly<Record<string, unknown>> = { error: reason }): void {
    const now = this.#now();
    if (now - this.#failedAt >= AGAIN_MS) this.#forget();
    this.#failedAt = now;
    this.#count++;
    const text = String(reason);
    if (this.#reasons.size < MOST_REASONS && !this.#reasons.has(text)) {
      this.#reasons.add(text);
      logEvent(this.#event, fields);
    } else if (now - this.#loggedAt >= AGAIN_MS) {
      const counted = { subject: this.#subject, count: this.#count, error: reason };
      logEvent("signer.still_failing", counted);
    } else return;
    this.#loggedAt = now;
  }

  /** Ends the failure, if there is one, as an attempt has succeeded. */
  succeeded(): void {
    if (this.#count === 0) return;
    logEvent("signer.works_again", { subject: this.#subject, count: this.#count });
    this.#forget();
  }

  #forget(): void {
    this.#count = 0;
    this.#reasons.clear();
  }
}
