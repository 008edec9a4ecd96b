import type { Sql } from "../database/connect.ts";
import type { EndpointPolicy } from "./endpoints.ts";

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

/** How much longer than the delivery may take an event stays claimed, milliseconds. */
const LEASE_MARGIN_MS = 5_000;

/**
 * Claims due events of many merchants in one round trip.
 *
 * @param claimedBy session of the claiming node
 */
export async function claimEvents(
  sql: Sql,
  wants: readonly Want[],
  claimedBy: string,
  { waitingProbeMs }: EndpointPolicy,
): Promise<readonly ClaimedEvent[]> {
  const rows = await sql<{
    id: string;
    merchant_id: string;
    type: string;
    payload: string;
    attempts: number;
    url: string;
    secret: string;
    previous: string | null;
    timeout_ms: number;
    retry_count: number;
  }[]>`
    SELECT * FROM book.claim_events(
      ${wants.map(({ merchantId }) => merchantId)}::text[],
      ${wants.map(({ room }) => room)}::int[],
      ${claimedBy}, ${LEASE_MARGIN_MS}, ${waitingProbeMs})`;
  return rows.map((row) => ({
    eventId: row.id,
    merchantId: row.merchant_id,
    type: row.type,
    payload: row.payload,
    attempt: row.attempts,
    url: row.url,
    secret: row.secret,
    previousSecret: row.previous,
    timeoutMs: row.timeout_ms,
    retryCount: row.retry_count,
  }));
}

/** Sessions of one node are told apart by what follows its name and this. */
const SEPARATOR = "/";

/** The session of a node, as its claims carry it. */
export function claimSession(node: string, session: string): string {
  return node + SEPARATOR + session;
}

/**
 * Frees what earlier sessions of a node still hold, so that a restart need not wait for leases to
 * run out. Only for a node that knows its earlier sessions to be dead.
 *
 * @returns merchants with something freed
 */
export async function releaseClaims(
  sql: Sql,
  node: string,
  session: string,
): Promise<readonly string[]> {
  const rows = await sql<{ merchant_id: string }[]>`
    WITH freed AS (
      UPDATE book.outbox o SET claimed_until = NULL
      WHERE o.status = 'PENDING' AND o.claimed_until > now()
        AND starts_with(o.claimed_by, ${node + SEPARATOR}) AND o.claimed_by <> ${
    claimSession(node, session)
  }
      RETURNING o.merchant_id)
    SELECT DISTINCT merchant_id FROM freed`;
  return rows.map((row) => row.merchant_id);
}

/** Events skipped by one statement per merchant. */
const AT_A_TIME = 1_000;

/**
 * Skips undelivered events of merchants that have no webhook or have switched it off. Those that
 * are being delivered are left to their attempt.
 */
export async function skipEvents(sql: Sql, merchantIds: readonly string[]): Promise<void> {
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
}
