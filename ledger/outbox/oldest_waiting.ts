import type { Fragment } from "postgres";
import type { AnySql } from "../database/connect.ts";

/**
 * Query for the oldest undelivered events of a merchant. They are read in their order by the index of the delivery log,
 * whatever the planner knows: by the primary key all that was ever delivered would be read, and the index of what is
 * due, which has another order and cannot be taken for a status that is not written out, all that waits.
 *
 * @param merchantId an expression
 * @param columns what is read of `o`, the event
 */
export function oldestWaiting(
  sql: AnySql,
  merchantId: Fragment,
  columns: Fragment,
  limit: number,
): Fragment {
  return sql`
    SELECT ${columns} FROM book.outbox o
    WHERE o.merchant_id = ANY (ARRAY[${merchantId}]) AND o.status = (SELECT 'PENDING')
    ORDER BY o.merchant_id, o.id LIMIT ${limit}`;
}
