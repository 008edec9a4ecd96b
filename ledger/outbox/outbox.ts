/**
 * The events that wait for delivery, as the webhook actors see them. State is kept per row; a claim
 * is a lease of seconds by the database's clock, so that what a dead process held is free again by
 * itself.
 *
 * @module
 */

import type { Sql } from "../database/connect.ts";
import { type AttemptMark, markAttempts } from "./attempts.ts";
import { ENDPOINT_POLICY, type EndpointPolicy, waitingEndpoints } from "./endpoints.ts";
import { queueProbes, reviveEvents } from "./second_chances.ts";

/** The number of events of one merchant that are wanted. */
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

/** Time for which an event stays claimed beyond the bound of its delivery, milliseconds. */
const LEASE_MARGIN_MS = 5_000;
/** Sessions of one node differ in what follows its name and this. */
const SEPARATOR = "/";
/** Events skipped by one statement per merchant. */
const AT_A_TIME = 1_000;

/** The outbox of a database, as one session of a node works on it. */
export type Outbox = ReturnType<typeof createOutbox>;

/**
 * The outbox of a database.
 *
 * @param options.node name of this node, the same after a restart; its earlier sessions must be dead
 * @param options.session name of this session of the node
 * @param options.policy treatment of endpoints that fail
 */
export function createOutbox(
  sql: Sql,
  { node = crypto.randomUUID(), session = crypto.randomUUID(), policy = ENDPOINT_POLICY }: {
    readonly node?: string;
    readonly session?: string;
    readonly policy?: EndpointPolicy;
  } = {},
) {
  const claimedBy = node + SEPARATOR + session;
  return {
    /** Claims due events in one round trip, of each payment only the oldest that is not finished. */
    claim: async (wants: readonly Want[]): Promise<readonly ClaimedEvent[]> =>
      await sql<ClaimedEvent[]>`
        SELECT id AS "eventId", merchant_id AS "merchantId", type, payload, attempts AS attempt, url, secret,
          previous AS "previousSecret", timeout_ms AS "timeoutMs", retry_count AS "retryCount"
        FROM book.claim_events(
          ${wants.map(({ merchantId }) => merchantId)}::text[], ${
        wants.map(({ room }) => room)
      }::int[],
          ${claimedBy}, ${LEASE_MARGIN_MS}, ${policy.waitingProbeMs})`,
    /**
     * Frees what earlier sessions of this node held when they died, so that a restart need not wait
     * for leases to run out.
     *
     * @returns the merchants with something freed
     */
    release: async (): Promise<readonly string[]> =>
      merchantsOf(
        await sql`
        WITH freed AS (
          UPDATE book.outbox o SET claimed_until = NULL
          WHERE o.status = 'PENDING' AND o.claimed_until > now()
            AND starts_with(o.claimed_by, ${node + SEPARATOR}) AND o.claimed_by <> ${claimedBy}
          RETURNING o.merchant_id)
        SELECT DISTINCT merchant_id FROM freed`,
      ),
    mark: (marks: readonly AttemptMark[]) => markAttempts(sql, marks, policy),
    waiting: (after: string, limit: number) => waitingEndpoints(sql, after, limit, policy),
    /**
     * Skips undelivered events of merchants that have no webhook or have switched it off. Those that
     * are being delivered are left to their attempt.
     */
    skip: async (merchantIds: readonly string[]): Promise<void> => {
      await sql`
        UPDATE book.outbox o SET status = 'SKIPPED', claimed_until = NULL, last_outcome = 'switched_off'
        FROM (
          SELECT p.id, m.merchant_id FROM book.merchant m CROSS JOIN LATERAL (
            SELECT x.id FROM book.outbox x
            WHERE x.merchant_id = m.merchant_id AND x.status = 'PENDING'
              AND (x.claimed_until IS NULL OR book.is_over(x.claimed_until))
            ORDER BY x.id LIMIT ${AT_A_TIME} FOR UPDATE SKIP LOCKED) p
          WHERE m.merchant_id = ANY (${[...merchantIds]}::text[])
            AND NOT (m.webhook_enabled AND m.webhook_url IS NOT NULL)) p
        WHERE o.id = p.id AND o.merchant_id = p.merchant_id`;
    },
    revive: () => reviveEvents(sql),
    probe: () => queueProbes(sql, policy),
  };
}

function merchantsOf(rows: readonly { readonly merchant_id?: string }[]): readonly string[] {
  return rows.map((row) => String(row.merchant_id));
}
