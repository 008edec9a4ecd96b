import type { Sql } from "../database/connect.ts";

/** Events deleted by one statement. */
const AT_A_TIME = 1_000;

/**
 * Deletes old events that wait for nothing, with the log of their delivery. Afterwards they are in
 * no list and cannot be sent again.
 *
 * @param keepMs age from which on an event may go, milliseconds
 * @returns how many were deleted; {@linkcode AT_A_TIME} means that there may be more
 */
export async function pruneEvents(sql: Sql, keepMs: number): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    WITH old AS MATERIALIZED (
      SELECT o.id, o.merchant_id FROM book.outbox o
      WHERE o.created_at < now() - make_interval(secs => ${
    keepMs / 1_000
  }) AND o.status <> 'PENDING'
      LIMIT ${AT_A_TIME} FOR UPDATE SKIP LOCKED),
    attempts AS (
      DELETE FROM book.delivery_attempt a USING old
      WHERE a.event_id = old.id AND a.merchant_id = old.merchant_id),
    revivals AS (
      DELETE FROM book.event_revival r USING old
      WHERE r.event_id = old.id AND r.merchant_id = old.merchant_id),
    gone AS (
      DELETE FROM book.outbox o USING old
      WHERE o.id = old.id AND o.merchant_id = old.merchant_id RETURNING 1)
    SELECT count(*)::int AS n FROM gone`;
  return row?.n ?? 0;
}
