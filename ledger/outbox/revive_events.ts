import type { AnySql, Sql } from "../database/connect.ts";
import { owedEvents } from "./owed_events.ts";

/** Events revived at once per merchant. */
const AT_A_TIME = 1_000;

/** Merchants served at once. */
const MERCHANTS = 10;

/**
 * Gives events of merchants whose endpoints acknowledge again their second chance. Where a merchant
 * is owed more than is queued at once, the rest follows with the next call.
 *
 * @returns the merchants for which something was queued
 */
export async function reviveEvents(sql: Sql): Promise<readonly string[]> {
  return await sql.begin(async (tx) => {
    const rows = await tx<{ merchant_id: string }[]>`
      SELECT s.merchant_id FROM book.second_chance s JOIN book.merchant m USING (merchant_id)
      WHERE s.recovered_at IS NOT NULL AND m.webhook_enabled AND m.webhook_url IS NOT NULL
      ORDER BY s.recovered_at LIMIT ${MERCHANTS} FOR UPDATE OF s SKIP LOCKED`;
    return await queueOwed(tx, rows.map((row) => row.merchant_id));
  });
}

/**
 * Notes that a merchant's endpoint acknowledges again, or is to be taken for it, and queues the
 * first of what it is owed. Where deliveries are switched off that waits until they are on.
 *
 * @param tx the transaction in which that became known
 */
export async function endpointRecovered(tx: AnySql, merchantId: string): Promise<void> {
  const rows = await tx<{ merchant_id: string }[]>`
    WITH noted AS (
      INSERT INTO book.second_chance (merchant_id, recovered_at) VALUES (${merchantId}, now())
      ON CONFLICT (merchant_id) DO UPDATE SET recovered_at = now() RETURNING merchant_id)
    SELECT merchant_id FROM noted JOIN book.merchant m USING (merchant_id)
    WHERE m.webhook_enabled AND m.webhook_url IS NOT NULL`;
  await queueOwed(tx, rows.map((row) => row.merchant_id));
}

/**
 * Queues events of merchants, each event once in its life, for one attempt.
 *
 * The merchants' rows are locked by an earlier statement of the transaction: no event can run out of
 * retries unseen between the look at what is owed and the end of the debt.
 */
async function queueOwed(
  tx: AnySql,
  merchantIds: readonly string[],
): Promise<readonly string[]> {
  if (merchantIds.length === 0) return [];
  const ids = [...merchantIds];
  const rows = await tx<{ merchant_id: string }[]>`
    WITH due AS MATERIALIZED (
      SELECT w.merchant_id, o.id FROM unnest(${ids}::text[]) AS w (merchant_id)
      CROSS JOIN LATERAL (${owedEvents(tx, tx`w.merchant_id`, AT_A_TIME)}) o),
    rest AS (
      SELECT merchant_id FROM due GROUP BY merchant_id HAVING count(*) = ${AT_A_TIME}),
    later AS (
      UPDATE book.second_chance s SET recovered_at = clock_timestamp() FROM rest r
      WHERE s.merchant_id = r.merchant_id),
    done AS (
      DELETE FROM book.second_chance s
      WHERE s.merchant_id = ANY (${ids}::text[]) AND s.merchant_id NOT IN (SELECT merchant_id FROM rest)),
    remembered AS (
      INSERT INTO book.event_revival (event_id, merchant_id)
      SELECT id, merchant_id FROM due ON CONFLICT DO NOTHING RETURNING event_id, merchant_id)
    UPDATE book.outbox o SET status = 'PENDING', next_attempt_at = now(), claimed_until = NULL
    FROM remembered r WHERE o.id = r.event_id AND o.merchant_id = r.merchant_id
    RETURNING o.merchant_id`;
  return [...new Set(rows.map((row) => row.merchant_id))];
}
