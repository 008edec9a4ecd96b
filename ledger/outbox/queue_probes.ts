import type { Sql } from "../database/connect.ts";
import type { EndpointPolicy } from "./endpoint_policy.ts";
import { owedEvents } from "./owed_events.ts";

/** Endpoints looked at by one call. */
const ENDPOINTS = 20;

/**
 * Probes endpoints for which nothing waits: otherwise one whose events have all run out of retries
 * would not be tried before the merchant's next event. A while after it has begun to fail each is
 * sent, ever more rarely, one event that is owed a second chance, which the event keeps while the
 * endpoint fails. They take turns: the endpoint may refuse one of them and want all others.
 *
 * That an endpoint does not acknowledge these says nothing of new events, so it is not paused.
 *
 * @returns the merchants for which a probe was queued
 */
export async function queueProbes(
  sql: Sql,
  { pauseAfterMs, firstProbeMs, longestProbeMs }: EndpointPolicy,
): Promise<readonly string[]> {
  return await sql.begin(async (tx) => {
    const due = await tx<{ merchant_id: string }[]>`
      SELECT s.merchant_id FROM book.second_chance s
      JOIN book.webhook_endpoint e USING (merchant_id) JOIN book.merchant m USING (merchant_id)
      WHERE m.webhook_enabled AND m.webhook_url = e.url AND s.recovered_at IS NULL
        AND (s.next_probe_at IS NULL OR s.next_probe_at <= now()
          OR s.next_probe_at > now() + make_interval(secs => ${longestProbeMs * 2 / 1_000}))
        AND e.failing_since <= now() - make_interval(secs => ${pauseAfterMs}::float8 / 1000)
        AND (SELECT o.id FROM book.outbox o
             WHERE o.merchant_id >= e.merchant_id AND o.merchant_id <= e.merchant_id
               AND o.status = 'PENDING' ORDER BY o.merchant_id, o.id LIMIT 1) IS NULL
      LIMIT ${ENDPOINTS} FOR UPDATE OF s SKIP LOCKED`;
    if (due.length === 0) return [];
    // a second statement, and so a second look: what ran out of retries before the lock is seen
    const rows = await tx<{ merchant_id: string }[]>`
      WITH due AS MATERIALIZED (
        SELECT s.* FROM book.second_chance s
        WHERE s.merchant_id = ANY (${due.map((row) => row.merchant_id)}::text[])),
      next AS MATERIALIZED (
        SELECT d.merchant_id, d.next_probe_at IS NOT NULL AS is_probed, coalesce(
          (${owedEvents(tx, tx`d.merchant_id`, tx`d.probed_id || chr(1)`, 1)}),
          (${owedEvents(tx, tx`d.merchant_id`, tx`d.owed_from`, 1)})) AS id
        FROM due d),
      scheduled AS (
        UPDATE book.second_chance s SET
          probes = CASE WHEN n.is_probed THEN s.probes + 1 ELSE 0 END,
          probed_id = CASE WHEN n.is_probed THEN n.id END,
          next_probe_at = now() + make_interval(secs => CASE WHEN n.is_probed
            THEN least(${firstProbeMs}::float8 * 2.0 ^ least(s.probes + 1, 20), ${longestProbeMs}::float8)
            ELSE ${firstProbeMs}::float8 END / 1000)
        FROM next n WHERE s.merchant_id = n.merchant_id AND n.id IS NOT NULL),
      nothing_owed AS (
        DELETE FROM book.second_chance s USING next n
        WHERE s.merchant_id = n.merchant_id AND n.id IS NULL)
      UPDATE book.outbox o SET status = 'PENDING', next_attempt_at = now(), claimed_until = NULL
      FROM next n WHERE n.is_probed AND o.id = n.id AND o.merchant_id = n.merchant_id
      RETURNING o.merchant_id`;
    return rows.map((row) => row.merchant_id);
  });
}
