import type { Sql } from "../database/connect.ts";

/**
 * Puts an event of a merchant back in line, whatever became of it, for at least one more attempt.
 * An event that waits already is due at once; one that is being delivered is left to its attempt.
 *
 * @returns whether the merchant has such an event
 */
export async function redeliverEvent(
  sql: Sql,
  merchantId: string,
  eventId: string,
): Promise<boolean> {
  const rows = await sql`
    UPDATE book.outbox o SET status = 'PENDING', next_attempt_at = now(),
      claimed_until = CASE o.status WHEN 'PENDING' THEN o.claimed_until END
    WHERE o.id = ${eventId} AND o.merchant_id = ${merchantId} RETURNING 1`;
  return rows.length > 0;
}
