import { type BookCheck, type Difference, MOST_DIFFERENCES } from "./difference.ts";

/** Counts of events that have ended, with what was not added to them yet, are those of the events. */
export const eventsAndCounts: BookCheck = async (sql) =>
  await sql<Difference[]>`
    WITH counted AS (
      SELECT merchant_id, book.stretch_of(id) AS stretch, status, type, count(*) AS n
      FROM book.outbox WHERE status <> 'PENDING' GROUP BY 1, 2, 3, 4),
    kept AS (
      SELECT merchant_id, stretch, status, type, sum(count) AS n FROM (
        SELECT * FROM book.event_count UNION ALL SELECT * FROM book.event_delta) k
      GROUP BY 1, 2, 3, 4 HAVING sum(count) <> 0)
    SELECT format('events of %s, %s, %s %s', merchant_id, stretch, status, type) AS subject,
      format('kept %s, found %s', coalesce(k.n, 0), coalesce(c.n, 0)) AS detail
    FROM counted c FULL JOIN kept k USING (merchant_id, stretch, status, type)
    WHERE coalesce(c.n, 0) <> coalesce(k.n, 0)
    ORDER BY 1 LIMIT ${MOST_DIFFERENCES}`;
