/**
 * What the service and its sender worker tell each other.
 *
 * @module
 */

import type { AttemptOutcome } from "./attempt_outcome.ts";
import type { Delivery } from "./sender.ts";
import type { UrlRules } from "./url_guard.ts";

/** One attempt that is to be made. */
export interface Job {
  readonly id: number;
  readonly delivery: Delivery;
  /** Unix milliseconds, for the signature's timestamp. */
  readonly now: number;
}

/** One attempt that has ended. */
export interface Done {
  readonly id: number;
  readonly outcome: AttemptOutcome;
}

/** An address as the system's resolver tells it. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** To the worker. */
export type ToSender =
  | {
    readonly kind: "start";
    readonly rules: UrlRules;
    readonly connections: number | undefined;
  }
  | { readonly kind: "send"; readonly jobs: readonly Job[] }
  /** Attempts that are given up. */
  | { readonly kind: "stop"; readonly ids: readonly number[] }
  /** Answer to `resolve`; `code` is the system's word where a name does not resolve. */
  | {
    readonly kind: "resolved";
    readonly id: number;
    readonly code: string | null;
    readonly addresses: readonly ResolvedAddress[];
  };

/** From the worker. */
export type FromSender =
  | { readonly kind: "done"; readonly done: readonly Done[] }
  /** An attempt that could not be begun, by a fault of ours. */
  | { readonly kind: "broken"; readonly id: number; readonly reason: string }
  /** Asks for the addresses of a name, which the worker itself may not look up. */
  | {
    readonly kind: "resolve";
    readonly id: number;
    readonly hostname: string;
    /** Whose endpoint it is. */
    readonly merchantId: string;
  };
