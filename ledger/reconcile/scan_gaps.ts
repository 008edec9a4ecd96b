import { type BookCheck, type Difference, MOST_DIFFERENCES } from "./difference.ts";

/** Every solid block from the first that was read up to the cursor was read. */
export const scanGaps: BookCheck = async (sql) =>
  await sql<Difference[]>`
    WITH range AS (
      SELECT network, last_height, lead(first_height) OVER (PARTITION BY network ORDER BY first_height) AS next
      FROM hub.scanned_range
    ), gap AS (
      SELECT r.network, r.last_height + 1 AS first, coalesce(r.next - 1, c.height) AS last
      FROM range r LEFT JOIN hub.cursor c ON c.network = r.network AND c.view = 'solid'
    )
    SELECT format('%s blocks %s to %s', network, first, last) AS subject,
      'passed by the scan without being read' AS detail
    FROM gap WHERE last >= first
    ORDER BY 1 LIMIT ${MOST_DIFFERENCES}`;
