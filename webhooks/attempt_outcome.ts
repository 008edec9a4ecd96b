/**
 * What became of one attempt to deliver an event.
 *
 * @module
 */

import type { UrlRefusal } from "./url_guard.ts";

/** What every outcome tells. */
interface Told {
  /** From the first byte out to the verdict, milliseconds. */
  readonly durationMs: number;
}

/** What the endpoint answered. */
interface Answered extends Told {
  readonly status: number;
  /** The first 2 kB of the answer, as text without NUL. */
  readonly answer: string;
}

/** One attempt's outcome; only `acknowledged` ends the delivery. */
export type AttemptOutcome =
  | (Answered & { readonly category: "acknowledged" })
  /** 2xx without `{"ok": true}`. */
  | (Answered & { readonly category: "not_acknowledged" })
  /** Any status that is not 2xx; redirects are not followed. */
  | (Answered & { readonly category: "bad_status" })
  /** The answer is longer than is read. */
  | (Answered & { readonly category: "answer_too_long" })
  | (Told & { readonly category: "timeout" })
  /** No connection, or one that broke. `code` is the system's word, for example `ECONNREFUSED`. */
  | (Told & { readonly category: "network"; readonly code: string })
  /** The URL is not one that we call; nothing was sent. */
  | (Told & { readonly category: "refused_url"; readonly reason: UrlRefusal })
  /** Given up because the service is stopping. */
  | (Told & { readonly category: "stopped" });
