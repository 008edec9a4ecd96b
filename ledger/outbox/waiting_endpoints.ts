import type { Sql } from "../database/connect.ts";
import type { EndpointPolicy } from "./endpoint_policy.ts";
import type { WaitingEndpoint } from "./outbox.ts";

/**
 * Oldest events of a paused endpoint that are looked at; as many as a claim looks at. An index of
 * what was begun would have every claim, which counts an attempt, write all indexes of the row anew.
 */
const BACKLOG_LOOKED_AT = 100;

/**
 * Merchants with undelivered events. A pause holds back only what was never sent: an endpoint for
 * which something begun is due, and in nobody's hands, wants it now; it is looked for where a claim
 * looks, too. Jumps from merchant to merchant in the index, so that one with a million events costs
 * no more than one with a few.
 *
 * @param after the id after which the search begins, `""` for the first
 */
export async function waitingEndpoints(
  sql: Sql,
  after: string,
  limit: number,
  { waitingProbeMs }: EndpointPolicy,
): Promise<readonly WaitingEndpoint[]> {
  const rows = await sql<{ merchant_id: string; state: WaitingEndpoint["state"] }[]>`
    WITH RECURSIVE waiting AS (
      (SELECT o.merchant_id FROM book.outbox o
       WHERE o.status = 'PENDING' AND o.merchant_id > ${after}
       ORDER BY o.merchant_id LIMIT 1)
      UNION ALL
      SELECT n.merchant_id FROM waiting w CROSS JOIN LATERAL (
        SELECT o.merchant_id FROM book.outbox o
        WHERE o.status = 'PENDING' AND o.merchant_id > w.merchant_id
        ORDER BY o.merchant_id LIMIT 1) n)
    SELECT w.merchant_id, CASE
        WHEN NOT (m.webhook_enabled AND m.webhook_url IS NOT NULL) THEN 'off'
        WHEN e.next_probe_at > now()
          AND e.next_probe_at <= now() + make_interval(secs => ${waitingProbeMs * 2 / 1_000})
          AND NOT EXISTS (
          SELECT FROM (
            SELECT o.attempts, o.next_attempt_at, o.claimed_until FROM book.outbox o
            WHERE o.merchant_id >= m.merchant_id AND o.merchant_id <= m.merchant_id
              AND o.status = 'PENDING'
            ORDER BY o.merchant_id, o.id LIMIT ${BACKLOG_LOOKED_AT}) o
          WHERE o.attempts > 0 AND book.is_over(o.next_attempt_at)
            AND (o.claimed_until IS NULL OR book.is_over(o.claimed_until))) THEN 'paused'
        ELSE 'on' END AS state
    FROM (SELECT * FROM waiting LIMIT ${limit}) w JOIN book.merchant m USING (merchant_id)
    LEFT JOIN book.webhook_endpoint e ON e.merchant_id = m.merchant_id AND e.url = m.webhook_url
    ORDER BY w.merchant_id`;
  return rows.map((row) => ({ merchantId: row.merchant_id, state: row.state }));
}
