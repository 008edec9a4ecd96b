import type { Sql } from "postgres";

/**
 * Gives leased transfers back to the queue with the reason they wait for, which the operator sees. One
 * whose row another transaction holds has no pause, and is tried again as soon as it can be locked.
 *
 * @param retryMs how long they are left alone, by the database's clock
 */
export async function returnQueued(
  sql: Sql,
  outgoingIds: readonly string[],
  reason: string,
  retryMs: number,
): Promise<void> {
  if (outgoingIds.length === 0) return;
  await sql`
    WITH locked AS (
      SELECT o.id FROM book.outgoing o
      WHERE o.id = ANY (${[...outgoingIds]}::text[]) AND o.status = 'queued'
      ORDER BY o.id FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE book.outgoing o
    SET lease_until = now() + make_interval(secs => ${retryMs / 1_000}), reason = ${reason},
      updated_at = now()
    FROM locked l WHERE o.id = l.id AND o.status = 'queued'`;
}
