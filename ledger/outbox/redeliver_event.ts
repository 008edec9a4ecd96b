import type { Sql } from "../database/connect.ts";

/**
 * Puts an event of a merchant back in line, whatever became of it, for at least one more attempt.
 * An event that waits already is due at once; one that is being delivered is left to its attempt.
 * A pause of the endpoint ends: somebody wants to have it tried.
 *
 * @returns whether the merchant has such an event
 */
export async function redeliverEvent(
  sql: Sql,
  merchantId: string,
  eventId: string,
): Promise<boolean> {
  const rows = await sql`
    WITH wanted AS (
      SELECT o.merchant_id FROM book.outbox o WHERE o.id = ${eventId} AND o.merchant_id = ${merchantId}),
    -- before the event is locked, as when an attempt is written down: otherwise both deadlock
    resumed AS (
      DELETE FROM book.webhook_endpoint WHERE merchant_id IN (SELECT merchant_id FROM wanted)
      RETURNING merchant_id)
    UPDATE book.outbox o SET status = 'PENDING', next_attempt_at = now(),
      claimed_until = CASE o.status WHEN 'PENDING' THEN o.claimed_until END
    WHERE o.id = ${eventId} AND o.merchant_id = ${merchantId} AND (SELECT count(*) FROM resumed) >= 0
    RETURNING o.id`;
  return rows.length > 0;
}
