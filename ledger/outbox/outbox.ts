/**
 * The events that wait for delivery, as the webhook actors see them. State is kept per row; a claim
 * is a lease of seconds by the database's clock, so that what a dead process held is free again
 * without anybody's help.
 *
 * @module
 */

import type { ClaimedEvent, Want } from "./claims.ts";
import type { AttemptMark, Marked } from "./attempts.ts";
import type { WaitingEndpoint } from "./endpoints.ts";
import type { Sql } from "../database/connect.ts";
import { markAttempts } from "./attempts.ts";
import { claimEvents, claimSession, releaseClaims, skipEvents } from "./claims.ts";
import { ENDPOINT_POLICY, type EndpointPolicy, waitingEndpoints } from "./endpoints.ts";
import { queueProbes, reviveEvents } from "./second_chances.ts";

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
