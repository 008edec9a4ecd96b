import type { Sql } from "../database/connect.ts";
import type { EndpointPolicy } from "./endpoint_policy.ts";
import type { ClaimedEvent, Want } from "./outbox.ts";

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
