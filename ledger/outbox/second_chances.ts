import type { Fragment } from "postgres";
import type { AnySql, Sql } from "../database/connect.ts";
import { type EndpointPolicy, lockEndpointSoon } from "./endpoints.ts";

/** Events revived at once per merchant. */
const AT_A_TIME = 1_000;

/** Merchants served by one call. */
const MERCHANTS = 10;

/**
 * Gives events of merchants whose endpoints acknowledge again their second chance. Where a merchant
 * is owed more than is queued at once, the rest follows with the next call.
 *
 * Each merchant has a transaction of its own: a write of its attempts waits for its row, and must not
 * wait for nine others.
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
 * Stores that a merchant's endpoint acknowledges again, or is to be taken for it: a pause ends, and the
 * first of what it is owed is queued. Where deliveries are switched off that waits until they are on.
 * Nothing is looked for where nothing is owed: all that had their chance in the last days would be passed over.
 *
 * @param tx has locked no row of the outbox yet
 */
export async function endpointRecovered(tx: AnySql, merchantId: string): Promise<void> {
  await lockEndpointSoon(tx, merchantId);
  const [row] = await tx`
    WITH stored AS (
      UPDATE book.second_chance
      SET recovered_at = now(), next_probe_at = NULL, probes = 0, probed_id = NULL
      WHERE merchant_id = ${merchantId} RETURNING merchant_id)
    SELECT FROM stored JOIN book.merchant m USING (merchant_id)
    WHERE m.webhook_enabled AND m.webhook_url IS NOT NULL`;
  await tx`DELETE FROM book.webhook_endpoint WHERE merchant_id = ${merchantId}`;
  if (row !== undefined) await queueOwed(tx, merchantId);
}

/**
 * Queues events of a merchant, each event once, for one attempt. The debt ends once none is
 * left, also none that another transaction holds at the moment.
 *
 * The merchant's row is locked by an earlier statement of the transaction: no event can run out of
 * retries unseen between the reading of what is owed and the end of the debt.
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

/** Endpoints probed by one call. */
const ENDPOINTS = 20;

/**
 * Probes endpoints for which nothing waits: otherwise one whose events have all run out of retries
 * would not be tried before the merchant's next event. A while after that each is sent, ever more
 * rarely, one event that is owed a second chance, which the event keeps while the endpoint fails; one
 * whose URL was changed is sent it at once. They take turns: the endpoint may refuse one of them and
 * want all others.
 *
 * That an endpoint does not acknowledge these says nothing of new events, so it is not paused.
 *
 * @returns the merchants for which a probe was queued
 */
export async function queueProbes(
  sql: Sql,
  { firstProbeMs, longestProbeMs }: EndpointPolicy,
): Promise<readonly string[]> {
  return await sql.begin(async (tx) => {
    const due = await tx<{ merchant_id: string }[]>`
      SELECT s.merchant_id FROM book.second_chance s
      JOIN book.webhook_endpoint e USING (merchant_id) JOIN book.merchant m USING (merchant_id)
      WHERE m.webhook_enabled AND m.webhook_url IS NOT NULL AND s.recovered_at IS NULL
        AND (m.webhook_url <> e.url OR s.next_probe_at IS NULL OR s.next_probe_at <= now()
          OR s.next_probe_at > now() + make_interval(secs => ${longestProbeMs * 2 / 1_000}))
        AND (SELECT o.id FROM book.outbox o
             WHERE o.merchant_id >= e.merchant_id AND o.merchant_id <= e.merchant_id
               AND o.status = 'PENDING' ORDER BY o.merchant_id LIMIT 1) IS NULL
      LIMIT ${ENDPOINTS} FOR UPDATE OF s SKIP LOCKED`;
    if (due.length === 0) return [];
    // a second statement, so that what ran out of retries before the lock is seen
    const rows = await tx<{ merchant_id: string }[]>`
      WITH due AS MATERIALIZED (
        SELECT s.*, s.next_probe_at IS NOT NULL OR m.webhook_url <> e.url AS is_probed
        FROM book.second_chance s
        JOIN book.webhook_endpoint e USING (merchant_id) JOIN book.merchant m USING (merchant_id)
        WHERE s.merchant_id = ANY (${due.map((row) => row.merchant_id)}::text[])),
      next AS MATERIALIZED (
        SELECT d.merchant_id, d.is_probed, coalesce(
          (${owedEvents(tx, tx`d.merchant_id`, tx`d.probed_id || chr(1)`, 1)}),
          (${owedEvents(tx, tx`d.merchant_id`, tx`d.owed_from`, 1)})) AS id
        FROM due d),
      scheduled AS (
        UPDATE book.second_chance s SET
          probes = CASE WHEN n.is_probed THEN s.probes + 1 ELSE 0 END,
          probed_id = CASE WHEN n.is_probed THEN n.id END,
          next_probe_at = now() + make_interval(secs => CASE WHEN n.is_probed
            THEN least(${firstProbeMs}::float8 * 2.0 ^ least(s.probes + 1, 20), ${longestProbeMs}::float8)
            ELSE ${firstProbeMs}::float8 END / 1000)
        FROM next n WHERE s.merchant_id = n.merchant_id AND n.id IS NOT NULL),
      nothing_owed AS (
        DELETE FROM book.second_chance s USING next n
        WHERE s.merchant_id = n.merchant_id AND n.id IS NULL
          -- one that another transaction holds is owed all the same
          AND (${owedEvents(tx, tx`s.merchant_id`, tx`s.owed_from`, 1, false)}) IS NULL)
      UPDATE book.outbox o SET status = 'PENDING', next_attempt_at = now(), claimed_until = NULL
      FROM next n WHERE n.is_probed AND o.id = n.id AND o.merchant_id = n.merchant_id
      RETURNING o.merchant_id`;
    return rows.map((row) => row.merchant_id);
  });
}

/** Greatest age of an event that is sent once more, hours. */
const WINDOW_HOURS = 72;

/** Greatest difference of the time in an event's id and the time it was booked at, hours. */
const MARGIN_HOURS = 1;

/**
 * Query for the oldest events of a merchant that ran out of retries lately and have not had their
 * second chance, locked but for those that another transaction holds. An event's id begins with its time in steps of 2^24
 * milliseconds, so that what is too old is not read at all.
 *
 * @param merchantId an expression
 * @param from an expression: the id with which they begin at the earliest, null for any
 * @param limit the most that are found
 * @param isLocked `false`: all of them, also those that are held, and none is locked
 */
function owedEvents(
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
