import type { Sql } from "../database/connect.ts";
import type { AttemptMark } from "./outbox.ts";

/**
 * Writes down many attempts in one statement, each with a line for the merchant's delivery log. An
 * acknowledgement counts whenever it comes; any other end only while its attempt is the newest.
 */
export async function markAttempts(sql: Sql, marks: readonly AttemptMark[]): Promise<void> {
  await sql`
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
        ${marks.map((mark) => mark.answer)}::text[])
      AS t (id, merchant_id, attempt, verdict, delay_ms, outcome, http_status, duration_ms, answer)),
    logged AS (
      INSERT INTO book.delivery_attempt
        (event_id, number, merchant_id, outcome, http_status, duration_ms, answer)
      SELECT t.id, t.attempt, t.merchant_id, t.outcome, t.http_status, t.duration_ms, t.answer
      FROM told t WHERE t.verdict <> 'released'
      ON CONFLICT DO NOTHING)
    UPDATE book.outbox o SET
      status = CASE t.verdict WHEN 'delivered' THEN 'DELIVERED' WHEN 'failed' THEN 'FAILED'
                              ELSE 'PENDING' END,
      delivered_at = CASE t.verdict WHEN 'delivered' THEN now() END,
      next_attempt_at = now() + make_interval(secs => t.delay_ms / 1000.0),
      attempts = CASE t.verdict WHEN 'released' THEN o.attempts - 1 ELSE o.attempts END,
      claimed_until = NULL,
      last_outcome = t.outcome
    FROM told t
    WHERE o.id = t.id AND o.merchant_id = t.merchant_id AND o.status = 'PENDING'
      AND (o.attempts = t.attempt OR t.verdict = 'delivered')`;
}
