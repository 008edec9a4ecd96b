import type { Sql } from "../database/connect.ts";
import type { EndpointPolicy } from "./endpoint_policy.ts";
import type { AttemptMark } from "./outbox.ts";

/**
 * Writes down many attempts in one statement, each with a line for the merchant's delivery log. An
 * acknowledgement counts whenever it comes; any other end only while its attempt is the newest.
 *
 * The same statement keeps what is known of endpoints that fail: an acknowledgement ends that (and
 * a pause), and one that has failed for long is paused. It also keeps which merchants may be owed a
 * second chance for events that ran out of retries, so that a crash does not forget it.
 *
 * @returns the merchants among them whose endpoints acknowledge again
 */
export async function markAttempts(
  sql: Sql,
  marks: readonly AttemptMark[],
  { pauseAfterMs, firstProbeMs }: EndpointPolicy,
): Promise<readonly string[]> {
  const rows = await sql<{ merchant_id: string }[]>`
    WITH told AS MATERIALIZED (
      SELECT * FROM unnest(
        ${marks.map((mark) => mark.eventId)}::text[],
        ${marks.map((mark) => mark.merchantId)}::text[],
        ${marks.map((mark) => mark.attempt)}::int[],
        ${marks.map((mark) => mark.verdict.kind)}::text[],
        ${marks.map(({ verdict }) => verdict.kind === "retry" ? verdict.delayMs : 0)}::int[],
        ${marks.map((mark) => mark.outcome)}::text[],
        ${marks.map((mark) => mark.httpStatus)}::int[],
        ${marks.map((mark) => mark.durationMs)}::int[],
        ${marks.map((mark) => mark.answer)}::text[],
        ${marks.map((mark) => mark.verdict.kind === "delivered" ? null : mark.url)}::text[])
      AS t (id, merchant_id, attempt, verdict, delay_ms, outcome, http_status, duration_ms, answer, url)),
    logged AS (
      INSERT INTO book.delivery_attempt
        (event_id, number, merchant_id, outcome, http_status, duration_ms, answer)
      SELECT t.id, t.attempt, t.merchant_id, t.outcome, t.http_status, t.duration_ms, t.answer
      FROM told t WHERE t.verdict <> 'released'
      ON CONFLICT DO NOTHING),
    answered AS (
      SELECT DISTINCT merchant_id FROM told WHERE verdict = 'delivered'),
    recovered AS (
      DELETE FROM book.webhook_endpoint e USING answered a WHERE e.merchant_id = a.merchant_id),
    failing AS (
      INSERT INTO book.webhook_endpoint AS e (merchant_id, url, failures, last_outcome)
      SELECT t.merchant_id, max(t.url), count(*), max(t.outcome) FROM told t
      WHERE t.verdict IN ('retry', 'failed') AND t.merchant_id NOT IN (SELECT merchant_id FROM answered)
      GROUP BY t.merchant_id ORDER BY t.merchant_id
      ON CONFLICT (merchant_id) DO UPDATE SET
        url = excluded.url,
        last_outcome = excluded.last_outcome,
        last_failed_at = now(),
        failures = CASE WHEN e.url = excluded.url THEN e.failures ELSE 0 END + excluded.failures,
        failing_since = CASE WHEN e.url = excluded.url THEN e.failing_since ELSE now() END,
        probes = CASE WHEN e.url = excluded.url THEN e.probes ELSE 0 END,
        paused_at = CASE WHEN e.url = excluded.url
          AND e.failing_since <= now() - make_interval(secs => ${pauseAfterMs}::float8 / 1000)
          THEN coalesce(e.paused_at, now()) END,
        next_probe_at = CASE WHEN e.url = excluded.url
          AND e.failing_since <= now() - make_interval(secs => ${pauseAfterMs}::float8 / 1000)
          THEN coalesce(e.next_probe_at, now() + make_interval(secs => ${firstProbeMs}::float8 / 1000)) END),
    missed AS (
      INSERT INTO book.second_chance AS s (merchant_id, recovered_at)
      SELECT t.merchant_id, CASE WHEN t.merchant_id IN (SELECT merchant_id FROM answered) THEN now() END
      FROM told t WHERE t.verdict = 'failed' GROUP BY t.merchant_id ORDER BY t.merchant_id
      ON CONFLICT (merchant_id) DO UPDATE SET recovered_at = excluded.recovered_at
      RETURNING merchant_id, recovered_at),
    answers_again AS (
      UPDATE book.second_chance s SET recovered_at = now() FROM answered a
      WHERE s.merchant_id = a.merchant_id AND s.recovered_at IS NULL
        AND s.merchant_id NOT IN (SELECT merchant_id FROM told WHERE verdict = 'failed')
      RETURNING s.merchant_id),
    marked AS (
      UPDATE book.outbox o SET
        status = CASE t.verdict WHEN 'delivered' THEN 'DELIVERED' WHEN 'failed' THEN 'FAILED'
                                ELSE 'PENDING' END,
        delivered_at = CASE t.verdict WHEN 'delivered' THEN now() ELSE o.delivered_at END,
        next_attempt_at = now() + make_interval(secs => t.delay_ms / 1000.0),
        attempts = CASE t.verdict WHEN 'released' THEN o.attempts - 1 ELSE o.attempts END,
        claimed_until = NULL,
        last_outcome = t.outcome
      FROM told t
      WHERE o.id = t.id AND o.merchant_id = t.merchant_id AND o.status = 'PENDING'
        AND (o.attempts = t.attempt OR t.verdict = 'delivered'))
    SELECT merchant_id FROM missed WHERE recovered_at IS NOT NULL
    UNION ALL SELECT merchant_id FROM answers_again`;
  return rows.map((row) => row.merchant_id);
}
