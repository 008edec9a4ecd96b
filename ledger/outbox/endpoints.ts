/**
 * Merchants' endpoints as the outbox knows them: when one that does not acknowledge is paused and how
 * often it is probed then, the lock of one, and those for which events wait.
 *
 * @module
 */

import type { Fragment } from "postgres";
import type { AnySql, Sql } from "../database/connect.ts";
import { oldestWaiting } from "./oldest_waiting.ts";

/** A merchant with undelivered events. */
export interface WaitingEndpoint {
  readonly merchantId: string;
  /**
   * `paused`: its next probe is not due yet, and nothing that was begun is. `off`: it has no webhook,
   * or switched it off.
   */
  readonly state: "on" | "paused" | "off";
}

/** Times of a pause, milliseconds. */
export interface EndpointPolicy {
  /** Time for which an endpoint acknowledges nothing before it is paused. */
  readonly pauseAfterMs: number;
  /** From one probe of a paused endpoint to the next, while an event waits for it. */
  readonly waitingProbeMs: number;
  /** From the failure to the first probe with a failed event; each further wait is twice as long. */
  readonly firstProbeMs: number;
  /** Longest wait between two probes with failed events. */
  readonly longestProbeMs: number;
}

/**
 * An outage of a few minutes pauses no endpoint: its events go through their retries, and what runs out
 * of them is sent once more after the recovery. Probes with what waits do not grow rarer: the wait
 * between two is how late a new event may be once the endpoint answers again.
 */
export const ENDPOINT_POLICY: EndpointPolicy = {
  pauseAfterMs: 5 * 60_000,
  waitingProbeMs: 30_000,
  firstProbeMs: 30_000,
  longestProbeMs: 10 * 60_000,
};

/** First key of the locks; the second is made of the merchant's id. */
const ENDPOINTS = 0x686f6f6b;

/**
 * Locks what is known of a merchant's endpoint and what it is owed until the transaction ends. Every
 * writer takes this lock before any row, and those of several merchants in the order of
 * {@linkcode endpointKey}: rows come and go, so that their order alone would not prevent deadlocks.
 */
export async function lockEndpoint(tx: AnySql, merchantId: string): Promise<void> {
  await tx`SELECT ${endpointLock(tx, endpointKey(tx, tx`${merchantId}::text`))}`;
}

/** Time for which a request waits for a merchant's lock, and then for its rows, milliseconds. */
const REQUEST_LOCK_MS = 2_000;

/**
 * The same for a request, which holds one of few connections meanwhile: its transaction waits for no lock
 * for longer than 2 s, and fails with code 55P03 then.
 */
export async function lockEndpointSoon(tx: AnySql, merchantId: string): Promise<void> {
  await tx`SELECT set_config('lock_timeout', ${`${REQUEST_LOCK_MS}ms`}, true)`;
  await lockEndpoint(tx, merchantId);
}

/** Second key of a merchant's lock. */
export function endpointKey(sql: AnySql, merchantId: Fragment): Fragment {
  return sql`hashtext(${merchantId})`;
}

/** Call that takes the lock of a key. */
export function endpointLock(sql: AnySql, key: Fragment): Fragment {
  return sql`pg_advisory_xact_lock(${ENDPOINTS}::int, ${key})`;
}

/** Call that takes the lock of a key where it is free, and returns true if it was. */
export function tryEndpointLock(sql: AnySql, key: Fragment): Fragment {
  return sql`pg_try_advisory_xact_lock(${ENDPOINTS}::int, ${key})`;
}

/**
 * Oldest events of a paused endpoint that are looked at; as many as a claim looks at. An index of
 * what was begun would have every claim, which counts an attempt, write all indexes of the row anew.
 */
const BACKLOG_LOOKED_AT = 100;

/**
 * Merchants with undelivered events. A pause holds back only what was never sent: an endpoint for
 * which something begun is due and unclaimed wants it now; it is looked for where a claim looks, too. Jumps from merchant to merchant in the index, so that one with a million events costs
 * no more than one with a few.
 *
 * @param after the id after which the search begins, `""` for the first
 */
export async function waitingEndpoints(
  sql: Sql,
  after: string,
  limit: number,
  { waitingProbeMs }: EndpointPolicy,
): Promise<readonly WaitingEndpoint[]> {
  return await sql<WaitingEndpoint[]>`
    WITH RECURSIVE waiting AS (
      (SELECT o.merchant_id FROM book.outbox o
       WHERE o.status = 'PENDING' AND o.merchant_id > ${after}
       ORDER BY o.merchant_id LIMIT 1)
      UNION ALL
      SELECT n.merchant_id FROM waiting w CROSS JOIN LATERAL (
        SELECT o.merchant_id FROM book.outbox o
        WHERE o.status = 'PENDING' AND o.merchant_id > w.merchant_id
        ORDER BY o.merchant_id LIMIT 1) n)
    SELECT w.merchant_id AS "merchantId", CASE
        WHEN NOT (m.webhook_enabled AND m.webhook_url IS NOT NULL) THEN 'off'
        WHEN e.next_probe_at > now()
          AND e.next_probe_at <= now() + make_interval(secs => ${waitingProbeMs * 2 / 1_000})
          AND NOT EXISTS (
          SELECT FROM (
            ${
    oldestWaiting(
      sql,
      sql`m.merchant_id`,
      sql`o.attempts, o.next_attempt_at, o.claimed_until`,
      BACKLOG_LOOKED_AT,
    )
  }) o
          WHERE o.attempts > 0 AND book.is_over(o.next_attempt_at)
            AND (o.claimed_until IS NULL OR book.is_over(o.claimed_until))) THEN 'paused'
        ELSE 'on' END AS state
    FROM (SELECT * FROM waiting LIMIT ${limit}) w JOIN book.merchant m USING (merchant_id)
    LEFT JOIN book.webhook_endpoint e ON e.merchant_id = m.merchant_id AND e.url = m.webhook_url
    ORDER BY w.merchant_id`;
}
