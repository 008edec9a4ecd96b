import type { Sql } from "../database/connect.ts";
import { lockEndpoint } from "./lock_endpoint.ts";

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
  return await sql.begin(async (tx) => {
    await lockEndpoint(tx, merchantId);
    const rows = await tx`
      WITH queued AS (
        UPDATE book.outbox o SET status = 'PENDING', next_attempt_at = now(),
          claimed_until = CASE o.status WHEN 'PENDING' THEN o.claimed_until END
        WHERE o.id = ${eventId} AND o.merchant_id = ${merchantId} RETURNING o.merchant_id),
      resumed AS (
        DELETE FROM book.webhook_endpoint WHERE merchant_id IN (SELECT merchant_id FROM queued))
      SELECT 1 FROM queued`;
    return rows.length > 0;
  });
}
