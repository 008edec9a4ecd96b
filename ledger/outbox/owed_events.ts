import type { Fragment } from "postgres";
import type { AnySql } from "../database/connect.ts";

/** How old an event may be that is sent once more, hours. */
const WINDOW_HOURS = 72;

/** How far the time in an event's id and the time it was booked at may differ, hours. */
const MARGIN_HOURS = 1;

/**
 * Query for the oldest events of a merchant that ran out of retries lately and have not had their
 * second chance, locked but for those that another transaction holds. An event's id begins with its time in stretches of 2^24 milliseconds, so
 * that what is too old is not read at all.
 *
 * @param merchantId an expression
 * @param from an expression: the id with which they begin at the earliest, null for any
 * @param limit the most that are found
 * @param isLocked `false`: all of them, also those that are held, and none is locked
 */
export function owedEvents(
  sql: AnySql,
  merchantId: Fragment,
  from: Fragment,
  limit: number,
  isLocked = true,
): Fragment {
  // asked row by row: as NOT EXISTS it may become a join over everything that was ever revived
  return sql`
    SELECT o.id FROM book.outbox o
    WHERE o.merchant_id = ${merchantId} AND o.status = 'FAILED'
      AND o.id >= greatest(${from}, 'evt_' || lpad(to_hex(floor(extract(epoch FROM
        now() - make_interval(hours => ${
    WINDOW_HOURS + MARGIN_HOURS
  })) * 1000 / 16777216)::bigint), 6, '0'))
      AND o.created_at > now() - make_interval(hours => ${WINDOW_HOURS})
      AND (SELECT r.event_id FROM book.event_revival r
           WHERE r.event_id = o.id AND r.merchant_id = o.merchant_id) IS NULL
    ORDER BY o.id LIMIT ${limit} ${isLocked ? sql`FOR UPDATE SKIP LOCKED` : sql``}`;
}
