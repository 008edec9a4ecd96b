import type { Sql } from "../database/connect.ts";

/** How old an event may be that is sent once more, hours. */
const WINDOW_HOURS = 72;

/** Events revived by one statement. */
const AT_A_TIME = 1_000;

/**
 * Queues the failed events of the last 72 hours of merchants whose endpoint answers again; each
 * event once in its life, for one attempt.
 *
 * @returns the merchants for which something was queued
 */
export async function reviveEvents(
  sql: Sql,
  merchantIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ merchant_id: string }[]>`
    WITH due AS MATERIALIZED (
      SELECT o.id, o.merchant_id FROM book.outbox o
      WHERE o.merchant_id = ANY (${[...merchantIds]}::text[]) AND o.status = 'FAILED'
        AND o.created_at > now() - make_interval(hours => ${WINDOW_HOURS})
        AND NOT EXISTS (SELECT FROM book.event_revival r
                        WHERE r.event_id = o.id AND r.merchant_id = o.merchant_id)
      ORDER BY o.id LIMIT ${AT_A_TIME} FOR UPDATE SKIP LOCKED),
    remembered AS (
      INSERT INTO book.event_revival (event_id, merchant_id)
      SELECT id, merchant_id FROM due ON CONFLICT DO NOTHING RETURNING event_id, merchant_id)
    UPDATE book.outbox o SET status = 'PENDING', next_attempt_at = now(), claimed_until = NULL
    FROM remembered r WHERE o.id = r.event_id AND o.merchant_id = r.merchant_id
    RETURNING o.merchant_id`;
  return new Set(rows.map((row) => row.merchant_id));
}
