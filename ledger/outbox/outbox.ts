/**
 * The events that wait for delivery, as the webhook actors see them. State is kept per row; a claim
 * is a lease of seconds by the database's clock, so that what a dead process held is free again
 * without anybody's help.
 *
 * @module
 */

import type { Sql } from "../database/connect.ts";
import { claimEvents } from "./claim_events.ts";
import { ENDPOINT_POLICY, type EndpointPolicy } from "./endpoint_policy.ts";
import { markAttempts } from "./mark_attempts.ts";
import { queueProbes } from "./queue_probes.ts";
import { claimSession, releaseClaims } from "./release_claims.ts";
import { reviveEvents } from "./revive_events.ts";
import { skipEvents } from "./skip_events.ts";
import { waitingEndpoints } from "./waiting_endpoints.ts";

/** How many events of one merchant are wanted. */
export interface Want {
  readonly merchantId: string;
  readonly room: number;
}

/** One event under a lease, with everything its delivery needs. */
export interface ClaimedEvent {
  readonly eventId: string;
  readonly merchantId: string;
  readonly type: string;
  /** The exact text that is sent. */
  readonly payload: string;
  /** Number of this attempt, from 1; counted by the claim itself. */
  readonly attempt: number;
  readonly url: string;
  readonly secret: string;
  /** The secret before, while it is still valid. */
  readonly previousSecret: string | null;
  readonly timeoutMs: number;
  readonly retryCount: number;
}

/** What follows from an attempt. */
export type Verdict =
  /** Acknowledged. */
  | { readonly kind: "delivered" }
  /** To be tried again after a while, milliseconds. */
  | { readonly kind: "retry"; readonly delayMs: number }
  /** Out of retries. */
  | { readonly kind: "failed" }
  /** Given up before an answer came; the attempt is not counted. Due again at once, or after a while, milliseconds. */
  | { readonly kind: "released"; readonly delayMs?: number };

/** One attempt and what became of it. */
export interface AttemptMark {
  readonly eventId: string;
  readonly merchantId: string;
  readonly attempt: number;
  /** Where it was sent. */
  readonly url: string;
  readonly verdict: Verdict;
  /** One word, for example `timeout`. */
  readonly outcome: string;
  readonly httpStatus: number | null;
  readonly durationMs: number;
  /** Beginning of the answer. */
  readonly answer: string | null;
}

/** What came of writing attempts down. */
export interface Marked {
  /**
   * Merchants that may be owed a second chance for events that ran out of retries and whose endpoints
   * acknowledge again.
   */
  readonly recovered: readonly string[];
  /** Attempts that were not written, as something else holds a row of their event or its endpoint. */
  readonly held: readonly AttemptMark[];
}

/** A merchant with undelivered events, and whether it wants them now. */
export interface WaitingEndpoint {
  readonly merchantId: string;
  /**
   * `paused`: its next probe is not due yet, and nothing that was begun is. `off`: it has no webhook,
   * or switched it off.
   */
  readonly state: "on" | "paused" | "off";
}

/** Who works on an outbox, and how it treats endpoints that fail. */
export interface OutboxOptions {
  /** Name of this node, the same after a restart; its earlier sessions must be dead. */
  readonly node?: string;
  /** Name of this session of the node. */
  readonly session?: string;
  readonly policy?: EndpointPolicy;
}

/** The outbox. */
export interface Outbox {
  /** Takes due events, of each payment only the oldest that is not finished. */
  claim(wants: readonly Want[]): Promise<readonly ClaimedEvent[]>;
  /** Frees what earlier sessions of this node held when they died. Answers whose that is. */
  release(): Promise<readonly string[]>;
  /** Writes down what became of attempts. */
  mark(marks: readonly AttemptMark[]): Promise<Marked>;
  /** Merchants with undelivered events, in the order of their ids. */
  waiting(after: string, limit: number): Promise<readonly WaitingEndpoint[]>;
  /** Skips undelivered events of merchants that have switched deliveries off. */
  skip(merchantIds: readonly string[]): Promise<void>;
  /**
   * Gives events that ran out of retries their one second chance where the endpoint acknowledges
   * again, a part at a time. Answers whose there were.
   */
  revive(): Promise<readonly string[]>;
  /** Queues probes of endpoints for which nothing waits. Answers whose they are. */
  probe(): Promise<readonly string[]>;
}

/** The outbox of a database. */
export function createOutbox(sql: Sql, options: OutboxOptions = {}): Outbox {
  const { node = crypto.randomUUID(), session = crypto.randomUUID() } = options;
  const policy = options.policy ?? ENDPOINT_POLICY;
  const claimedBy = claimSession(node, session);
  return {
    claim: (wants) => claimEvents(sql, wants, claimedBy, policy),
    release: () => releaseClaims(sql, node, session),
    mark: (marks) => markAttempts(sql, marks, policy),
    waiting: (after, limit) => waitingEndpoints(sql, after, limit, policy),
    skip: (merchantIds) => skipEvents(sql, merchantIds),
    revive: () => reviveEvents(sql),
    probe: () => queueProbes(sql, policy),
  };
}
