/**
 * Outcomes of attempts to deliver an event, and when one that was not acknowledged is tried again.
 *
 * @module
 */

import type { Answer } from "./answer_parser.ts";
import type { UrlRefusal } from "./url_guard.ts";

/** An answer of the endpoint. */
interface Answered {
  readonly status: number;
  /** The first 2 kB of the answer, as text without NUL. */
  readonly answer: string;
}

/** One attempt's outcome but for its time; only `acknowledged` ends the delivery. */
export type UntimedOutcome =
  | (Answered & {
    readonly category:
      | "acknowledged"
      /** 2xx without `{"ok": true}`. */
      | "not_acknowledged"
      /** Any status that is not 2xx; redirects are not followed. */
      | "bad_status"
      /** The answer is longer than is read. */
      | "answer_too_long";
  })
  | { readonly category: "timeout" }
  /** No connection, or one that broke. `code` is the system's word, for example `ECONNREFUSED`. */
  | { readonly category: "network"; readonly code: string }
  /** The URL is not one that is called; nothing was sent. */
  | { readonly category: "refused_url"; readonly reason: UrlRefusal }
  /** No sender was ready; nothing was sent. */
  | { readonly category: "not_sent" }
  /** Given up because the service is stopping. */
  | { readonly category: "stopped" };

/** One attempt's outcome. */
export type AttemptOutcome = UntimedOutcome & {
  /** From the first byte out to the outcome, milliseconds. */
  readonly durationMs: number;
};

/** Bytes of an answer that are kept for the delivery log. */
const KEEP_CAP = 2_048;
const decoder = new TextDecoder();

/** Judges an answer: only a 2xx whose JSON body says that `ok` is true acknowledges a delivery. */
export function outcomeOf({ status, body, isTooLong }: Answer): UntimedOutcome {
  const text = decoder.decode(body);
  const kept = body.length <= KEEP_CAP ? text : decoder.decode(body.subarray(0, KEEP_CAP));
  // PostgreSQL stores no NUL in text
  const answered = { status, answer: kept.replaceAll("\0", "\u{fffd}") };
  if (isTooLong) return { category: "answer_too_long", ...answered };
  if (status < 200 || status > 299) return { category: "bad_status", ...answered };
  return { category: isAcknowledgement(text) ? "acknowledged" : "not_acknowledged", ...answered };
}

/** @param body the whole body as text */
function isAcknowledgement(body: string): boolean {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
  return typeof answer === "object" && answer !== null && !Array.isArray(answer) &&
    Object.hasOwn(answer, "ok") && (answer as { readonly ok: unknown }).ok === true;
}

/** Wait before the first retry, in milliseconds. */
const FIRST_DELAY_MS = 1_000;

/** Longest wait between two attempts, in milliseconds. */
const LONGEST_DELAY_MS = 30_000;

const JITTER = 0.1;

/**
 * Wait after a failed attempt: 1 s, doubling, at most 30 s, with up to 10 % added so that the
 * retries of many events do not arrive together; never more than 30 s.
 *
 * @param failedAttempts how many attempts have failed so far, at least 1
 * @param random a number in [0, 1)
 * @returns whole milliseconds
 */
export function retryDelayMs(failedAttempts: number, random: number): number {
  // Past the cap the exponent is of no interest, and 2 ** 1100 would be Infinity.
  const doublings = Math.min(Math.max(failedAttempts, 1) - 1, 10);
  const base = Math.min(FIRST_DELAY_MS * 2 ** doublings, LONGEST_DELAY_MS);
  return Math.min(Math.floor(base * (1 + JITTER * random)), LONGEST_DELAY_MS);
}

/**
 * True if another attempt follows.
 *
 * @param attempts attempts made so far
 * @param retryCount retries the merchant wants after the first attempt
 */
export function isRetried(attempts: number, retryCount: number): boolean {
  return attempts <= retryCount;
}
