import type { AnySql, Sql } from "../database/connect.ts";
import { lockEndpoint } from "./lock_endpoint.ts";
import { owedEvents } from "./owed_events.ts";

/** Events revived at once per merchant. */
const AT_A_TIME = 1_000;

/** Merchants served by one call. */
const MERCHANTS = 10;

/**
 * Gives events of merchants whose endpoints acknowledge again their second chance. Where a merchant
 * is owed more than is queued at once, the rest follows with the next call.
 *
 * Each merchant has a transaction of its own: whoever writes attempts of a merchant down waits for
 * its row, and must not wait for nine others.
 *
 * @returns the merchants for which something was queued
 */
export async function reviveEvents(sql: Sql): Promise<readonly string[]> {
  const seen: string[] = [];
  const queued: string[] = [];
  while (seen.length < MERCHANTS) {
    const merchantId = await sql.begin(async (tx) => {
      const [row] = await tx<{ merchant_id: string }[]>`
        SELECT s.merchant_id FROM book.second_chance s JOIN book.merchant m USING (merchant_id)
        WHERE s.recovered_at IS NOT NULL AND m.webhook_enabled AND m.webhook_url IS NOT NULL
          AND s.merchant_id <> ALL (${seen}::text[])
        ORDER BY s.recovered_at LIMIT 1 FOR UPDATE OF s SKIP LOCKED`;
      if (row === undefined) return null;
      if (await queueOwed(tx, row.merchant_id)) queued.push(row.merchant_id);
      return row.merchant_id;
    });
    if (merchantId === null) break;
    seen.push(merchantId);
  }
  return queued;
}

/**
 * Notes that a merchant's endpoint acknowledges again, or is to be taken for it: nothing bad is known
 * of it any more, a pause ends, and the first of what it is owed is queued. Where deliveries are
 * switched off that waits until they are on.
 *
 * @param tx the transaction in which that became known; it has locked no row of the outbox yet
 */
export async function endpointRecovered(tx: AnySql, merchantId: string): Promise<void> {
  await lockEndpoint(tx, merchantId);
  const [row] = await tx`
    WITH noted AS (
      INSERT INTO book.second_chance (merchant_id, recovered_at) VALUES (${merchantId}, now())
      ON CONFLICT (merchant_id) DO UPDATE
        SET recovered_at = now(), next_probe_at = NULL, probes = 0, probed_id = NULL
      RETURNING merchant_id)
    SELECT FROM noted JOIN book.merchant m USING (merchant_id)
    WHERE m.webhook_enabled AND m.webhook_url IS NOT NULL`;
  await tx`DELETE FROM book.webhook_endpoint WHERE merchant_id = ${merchantId}`;
  if (row !== undefined) await queueOwed(tx, merchantId);
}

/**
 * Queues events of a merchant, each event once in its life, for one attempt. The debt ends once none is
 * left, also none that another transaction holds at the moment.
 *
 * The merchant's row is locked by an earlier statement of the transaction: no event can run out of
 * retries unseen between the look at what is owed and the end of the debt.
 *
 * @returns whether there were any
 */
async function queueOwed(tx: AnySql, merchantId: string): Promise<boolean> {
  const rows = await tx`
    WITH due AS MATERIALIZED (
      SELECT s.merchant_id, o.id FROM book.second_chance s
      CROSS JOIN LATERAL (${owedEvents(tx, tx`s.merchant_id`, tx`s.owed_from`, AT_A_TIME)}) o
      WHERE s.merchant_id = ${merchantId}),
    debt AS MATERIALIZED (
      SELECT o.id FROM book.second_chance s
      CROSS JOIN LATERAL (${owedEvents(tx, tx`s.merchant_id`, tx`s.owed_from`, AT_A_TIME, false)}) o
      WHERE s.merchant_id = ${merchantId}),
    missed AS (SELECT min(id) AS first_id FROM debt WHERE id NOT IN (SELECT id FROM due)),
    later AS (
      UPDATE book.second_chance s
      SET recovered_at = clock_timestamp(), owed_from = coalesce(m.first_id, d.last_id, s.owed_from)
      FROM (SELECT max(id) AS last_id, count(*) AS n FROM due) d, missed m
      WHERE s.merchant_id = ${merchantId} AND (d.n = ${AT_A_TIME} OR m.first_id IS NOT NULL)),
    done AS (
      DELETE FROM book.second_chance s USING missed m
      WHERE s.merchant_id = ${merchantId} AND m.first_id IS NULL
        AND (SELECT count(*) FROM due) < ${AT_A_TIME}),
    remembered AS (
      INSERT INTO book.event_revival (event_id, merchant_id)
      SELECT id, merchant_id FROM due ON CONFLICT DO NOTHING RETURNING event_id, merchant_id)
    UPDATE book.outbox o SET status = 'PENDING', next_attempt_at = now(), claimed_until = NULL
    FROM remembered r WHERE o.id = r.event_id AND o.merchant_id = r.merchant_id
    RETURNING o.id`;
  return rows.length > 0;
}
