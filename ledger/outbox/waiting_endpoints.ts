import type { Sql } from "../database/connect.ts";
import type { WaitingEndpoint } from "./outbox.ts";

/**
 * Merchants with undelivered events. Jumps from merchant to merchant in the index, so that a
 * merchant with a million of them costs as much as one with a single event.
 *
 * @param after the id after which the search begins, `""` for the first
 */
export async function waitingEndpoints(
  sql: Sql,
  after: string,
  limit: number,
): Promise<readonly WaitingEndpoint[]> {
  const rows = await sql<{ merchant_id: string; is_on: boolean }[]>`
    WITH RECURSIVE waiting AS (
      (SELECT o.merchant_id FROM book.outbox o
       WHERE o.status = 'PENDING' AND o.merchant_id > ${after}
       ORDER BY o.merchant_id LIMIT 1)
      UNION ALL
      SELECT n.merchant_id FROM waiting w CROSS JOIN LATERAL (
        SELECT o.merchant_id FROM book.outbox o
        WHERE o.status = 'PENDING' AND o.merchant_id > w.merchant_id
        ORDER BY o.merchant_id LIMIT 1) n)
    SELECT w.merchant_id, m.webhook_enabled AND m.webhook_url IS NOT NULL AS is_on
    FROM (SELECT * FROM waiting LIMIT ${limit}) w JOIN book.merchant m USING (merchant_id)
    ORDER BY w.merchant_id`;
  return rows.map((row) => ({ merchantId: row.merchant_id, isOn: row.is_on }));
}
