import type { Sql } from "../database/connect.ts";

/** Counts added by one statement. */
const AT_A_TIME = 10_000;

/**
 * Adds the counts of events that have ended meanwhile to the kept ones. Readers see every event
 * counted once at any time; several nodes may do it at once.
 *
 * @returns how many there were
 */
export async function foldEventCounts(sql: Sql): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    WITH taken AS (
      DELETE FROM book.event_delta WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM book.event_delta LIMIT ${AT_A_TIME} FOR UPDATE SKIP LOCKED))
      RETURNING *),
    folded AS (
      INSERT INTO book.event_count AS c (merchant_id, stretch, status, type, count)
      SELECT merchant_id, stretch, status, type, sum(count) FROM taken
      GROUP BY 1, 2, 3, 4 HAVING sum(count) <> 0 ORDER BY 1, 2, 3, 4
      ON CONFLICT (merchant_id, stretch, status, type) DO UPDATE SET count = c.count + excluded.count)
    SELECT count(*)::int AS n FROM taken`;
  return row?.n ?? 0;
}
