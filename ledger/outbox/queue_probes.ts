import type { Sql } from "../database/connect.ts";
import type { EndpointPolicy } from "./endpoint_policy.ts";
import { owedEvents } from "./owed_events.ts";

/** Endpoints looked at by one call. */
const ENDPOINTS = 20;

/**
 * Probes endpoints for which nothing waits: otherwise one whose events have all run out of retries
 * would not be tried before the merchant's next event. One that has acknowledged nothing for long is
 * paused first, as if something had been sent to it; each probe after that is its oldest event that
 * is owed a second chance, which it keeps while the endpoint fails.
 *
 * @returns the merchants for which a probe was queued
 */
export async function queueProbes(
  sql: Sql,
  { pauseAfterMs, firstProbeMs, longestProbeMs }: EndpointPolicy,
): Promise<readonly string[]> {
  return await sql.begin(async (tx) => {
    const due = await tx<{ merchant_id: string; is_paused: boolean }[]>`
      SELECT e.merchant_id, e.paused_at IS NOT NULL AS is_paused FROM book.second_chance s
      JOIN book.webhook_endpoint e USING (merchant_id) JOIN book.merchant m USING (merchant_id)
      WHERE m.webhook_enabled AND m.webhook_url = e.url
        AND (e.next_probe_at <= now() OR e.paused_at IS NULL
          AND e.failing_since <= now() - make_interval(secs => ${pauseAfterMs}::float8 / 1000))
        AND (SELECT o.id FROM book.outbox o
             WHERE o.merchant_id >= e.merchant_id AND o.merchant_id <= e.merchant_id
               AND o.status = 'PENDING' ORDER BY o.merchant_id, o.id LIMIT 1) IS NULL
      LIMIT ${ENDPOINTS} FOR UPDATE OF s, e SKIP LOCKED`;
    if (due.length === 0) return [];
    const paused = due.filter((row) => row.is_paused).map((row) => row.merchant_id);
    // a second statement, and so a second look: what ran out of retries before the lock is seen
    const rows = await tx<{ merchant_id: string }[]>`
      WITH due AS MATERIALIZED (
        SELECT d.merchant_id, d.merchant_id = ANY (${paused}::text[]) AS is_paused
        FROM unnest(${due.map((row) => row.merchant_id)}::text[]) AS d (merchant_id)),
      oldest AS MATERIALIZED (
        SELECT d.merchant_id, d.is_paused, o.id FROM due d
        CROSS JOIN LATERAL (${owedEvents(tx, tx`d.merchant_id`, 1)}) o),
      scheduled AS (
        UPDATE book.webhook_endpoint e SET
          paused_at = coalesce(e.paused_at, now()),
          probes = CASE WHEN p.is_paused THEN e.probes + 1 ELSE e.probes END,
          next_probe_at = now() + make_interval(secs => CASE WHEN p.is_paused
            THEN least(${firstProbeMs}::float8 * 2.0 ^ least(e.probes + 1, 20), ${longestProbeMs}::float8)
            ELSE ${firstProbeMs}::float8 END / 1000)
        FROM oldest p WHERE e.merchant_id = p.merchant_id),
      nothing_owed AS (
        DELETE FROM book.second_chance s USING due d
        WHERE s.merchant_id = d.merchant_id AND s.merchant_id NOT IN (SELECT merchant_id FROM oldest))
      UPDATE book.outbox o SET status = 'PENDING', next_attempt_at = now(), claimed_until = NULL
      FROM oldest p WHERE p.is_paused AND o.id = p.id AND o.merchant_id = p.merchant_id
      RETURNING o.merchant_id`;
    return rows.map((row) => row.merchant_id);
  });
}
