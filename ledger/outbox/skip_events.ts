import type { Sql } from "../database/connect.ts";

/** Events skipped by one statement per merchant. */
const AT_A_TIME = 1_000;

/**
 * Skips undelivered events of merchants that have no webhook or have switched it off. Those that
 * are being delivered are left to their attempt.
 */
export async function skipEvents(sql: Sql, merchantIds: readonly string[]): Promise<void> {
  await sql`
    UPDATE book.outbox o SET status = 'SKIPPED', claimed_until = NULL, last_outcome = 'switched_off'
    FROM (
      SELECT p.id, m.merchant_id FROM book.merchant m CROSS JOIN LATERAL (
        SELECT x.id FROM book.outbox x
        WHERE x.merchant_id = m.merchant_id AND x.status = 'PENDING'
          AND (x.claimed_until IS NULL OR book.is_over(x.claimed_until))
        ORDER BY x.id LIMIT ${AT_A_TIME} FOR UPDATE SKIP LOCKED) p
      WHERE m.merchant_id = ANY (${[...merchantIds]}::text[])
        AND NOT (m.webhook_enabled AND m.webhook_url IS NOT NULL)) p
    WHERE o.id = p.id AND o.merchant_id = p.merchant_id`;
}
