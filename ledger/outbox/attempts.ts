import { classifyDatabaseError } from "../database/database_errors.ts";
import type { AnySql, Sql } from "../database/connect.ts";
import { integer, orNull, text } from "../table.ts";
import { shape } from "../shape.ts";
import { endpointKey, endpointLock, type EndpointPolicy, tryEndpointLock } from "./endpoints.ts";

/** The next state of an event after an attempt. */
export type AttemptResult =
  /** Acknowledged. */
  | { readonly kind: "delivered" }
  /** To be tried again after a while, milliseconds. */
  | { readonly kind: "retry"; readonly delayMs: number }
  /** Out of retries. */
  | { readonly kind: "failed" }
  /** Given up before an answer came; the attempt is not counted. Due again at once, or after a while, milliseconds. */
  | { readonly kind: "released"; readonly delayMs?: number };

/** One attempt with its result. */
export interface AttemptMark {
  readonly eventId: string;
  readonly merchantId: string;
  readonly attempt: number;
  /** The address it was sent to. */
  readonly url: string;
  readonly result: AttemptResult;
  /** One word, for example `timeout`. */
  readonly outcome: string;
  readonly httpStatus: number | null;
  readonly durationMs: number;
  /** Beginning of the answer. */
  readonly answer: string | null;
}

/** Attempts that were written, and those that were not. */
export interface Marked {
  /**
   * Merchants that may be owed a second chance for events that ran out of retries and whose endpoints
   * acknowledge again.
   */
  readonly recovered: readonly string[];
  /** Attempts that were not written, as another transaction holds a row of their event or its endpoint. */
  readonly held: readonly AttemptMark[];
}

/** Bound of a write's wait for a row that another transaction holds; {@linkcode markAcknowledged} has the same. */
const LOCK_TIMEOUT = "200ms";
/** Events behind one that waits, of the same payment, whose time is set with its; a payment has fewer. */
const BEHIND = 10;

/**
 * Writes many attempts in one statement, each with a line for the merchant's delivery log. An
 * acknowledgement counts whenever it comes; any other end only while its attempt is the newest.
 *
 * The same statement keeps what is known of endpoints that fail: an acknowledgement ends that (and
 * a pause), and one that has failed for long is paused, unless all that failed now was a probe with
 * an event that had failed before. It also keeps which merchants may be owed a second chance for
 * events that ran out of retries, so that a crash does not forget it.
 *
 * Endpoints that fail, or did, are locked before any row, so that nodes that write at the same time,
 * resume an endpoint or send again wait for each other in turn. A batch of other endpoints alone is
 * written by a shorter statement that costs half as much.
 *
 * A row that another transaction holds keeps only its own attempts from being written: after one wait
 * in vain all that can be locked at once is, and the rest is returned as held. However many merchants'
 * rows are held, the others of the batch wait once.
 *
 * @throws also where something else holds what is none of these rows, such as a whole table
 */
export async function markAttempts(
  sql: Sql,
  marks: readonly AttemptMark[],
  policy: EndpointPolicy,
): Promise<Marked> {
  try {
    if (await markAcknowledged(sql, marks)) return { recovered: [], held: [] };
    return await sql.begin(async (tx) => {
      await boundWaits(tx);
      return { recovered: await markMixed(tx, marks, policy), held: [] };
    });
  } catch (error) {
    // 55P03 and its like: the transaction was rolled back because of others' locks
    if (classifyDatabaseError(error) !== "serialization") throw error;
  }
  return await sql.begin(async (tx) => {
    await boundWaits(tx);
    const held = await findHeldMarks(tx, marks);
    const free = marks.filter((mark) => !held.has(mark));
    const recovered = free.length === 0 ? [] : await markMixed(tx, free, policy);
    return { recovered, held: [...held] };
  });
}

/** Bounds every wait of a transaction for a row; awaited before anything is locked. */
async function boundWaits(tx: AnySql): Promise<void> {
  await tx`SELECT set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`;
}

const markShape = shape({
  eventId: text(),
  merchantId: text(),
  attempt: integer(),
  result: text<AttemptResult["kind"]>(),
  delayMs: integer(),
  outcome: text(),
  httpStatus: orNull(integer()),
  durationMs: integer(),
  answer: orNull(text()),
  url: orNull(text()),
});

async function markMixed(
  sql: AnySql,
  marks: readonly AttemptMark[],
  { pauseAfterMs, waitingProbeMs }: EndpointPolicy,
): Promise<readonly string[]> {
  const merchantIds = [...new Set(marks.map((mark) => mark.merchantId))];
  const given = marks.map(({ result, url, ...mark }) => ({
    ...mark,
    result: result.kind,
    delayMs: "delayMs" in result ? result.delayMs ?? 0 : 0,
    url: result.kind === "delivered" ? null : url,
  }));
  const rows = await sql<{ merchant_id: string }[]>`
    WITH given AS MATERIALIZED (SELECT * FROM ${markShape.rows(sql, "t", given)}),
    locked AS MATERIALIZED (
      SELECT ${endpointLock(sql, sql`k.key`)} FROM (
        SELECT DISTINCT ${endpointKey(sql, sql`w.merchant_id`)} AS key FROM (
          SELECT merchant_id FROM given WHERE result IN ('retry', 'failed')
          UNION ALL SELECT merchant_id FROM book.second_chance WHERE merchant_id = ANY (${merchantIds}::text[])
          UNION ALL SELECT merchant_id FROM book.webhook_endpoint WHERE merchant_id = ANY (${merchantIds}::text[])) w
        ORDER BY key OFFSET 0) k),
    -- the count makes the locks come first: everything else reads this
    mark AS MATERIALIZED (
      SELECT * FROM given WHERE (SELECT count(*) FROM locked) >= 0),
    logged AS (
      INSERT INTO book.delivery_attempt
        (event_id, number, merchant_id, outcome, http_status, duration_ms, answer)
      SELECT t.event_id, t.attempt, t.merchant_id, t.outcome, t.http_status, t.duration_ms, t.answer
      FROM mark t WHERE t.result <> 'released'
      ON CONFLICT DO NOTHING),
    answered AS (
      SELECT DISTINCT merchant_id FROM mark WHERE result = 'delivered'),
    -- what had its second chance and fails again is owed nothing
    owed AS MATERIALIZED (
      SELECT t.merchant_id, min(t.event_id) AS id, t.merchant_id IN (SELECT merchant_id FROM answered) AS answers
      FROM mark t
      WHERE t.result = 'failed' AND (
        SELECT r.event_id FROM book.event_revival r
        WHERE r.event_id = t.event_id AND r.merchant_id = t.merchant_id) IS NULL
      GROUP BY t.merchant_id),
    missed AS (
      INSERT INTO book.second_chance AS s (merchant_id, recovered_at, owed_from)
      SELECT o.merchant_id, CASE WHEN o.answers THEN now() END, o.id FROM owed o ORDER BY o.merchant_id
      ON CONFLICT (merchant_id) DO UPDATE SET
        recovered_at = excluded.recovered_at,
        owed_from = CASE WHEN s.owed_from > excluded.owed_from THEN excluded.owed_from ELSE s.owed_from END,
        next_probe_at = CASE WHEN excluded.recovered_at IS NULL THEN s.next_probe_at END,
        probes = CASE WHEN excluded.recovered_at IS NULL THEN s.probes ELSE 0 END,
        probed_id = CASE WHEN excluded.recovered_at IS NULL THEN s.probed_id END
      RETURNING merchant_id, recovered_at),
    turned AS (
      UPDATE book.second_chance s SET recovered_at = CASE WHEN t.answers THEN now() END,
        next_probe_at = NULL, probes = 0, probed_id = NULL
      FROM (
        SELECT merchant_id, bool_or(result = 'delivered') AS answers FROM mark
        WHERE result IN ('delivered', 'failed') GROUP BY merchant_id) t
      WHERE s.merchant_id = t.merchant_id AND (s.recovered_at IS NULL) = t.answers
        AND s.merchant_id NOT IN (SELECT merchant_id FROM owed)
      RETURNING s.merchant_id, s.recovered_at),
    recovered AS (
      DELETE FROM book.webhook_endpoint e USING answered a WHERE e.merchant_id = a.merchant_id),
    -- with more than an event that had failed before, as a probe
    in_earnest AS MATERIALIZED (
      SELECT DISTINCT t.merchant_id FROM mark t
      WHERE t.result IN ('retry', 'failed') AND (
        SELECT s.merchant_id FROM book.second_chance s
        WHERE s.merchant_id = t.merchant_id AND s.probed_id = t.event_id) IS NULL),
    failing AS (
      INSERT INTO book.webhook_endpoint AS e (merchant_id, url, failures, last_outcome)
      SELECT t.merchant_id, max(t.url), count(*), max(t.outcome) FROM mark t
      WHERE t.result IN ('retry', 'failed') AND t.merchant_id NOT IN (SELECT merchant_id FROM answered)
      GROUP BY t.merchant_id ORDER BY t.merchant_id
      ON CONFLICT (merchant_id) DO UPDATE SET
        url = excluded.url,
        last_outcome = excluded.last_outcome,
        last_failed_at = now(),
        failures = CASE WHEN e.url = excluded.url THEN e.failures ELSE 0 END + excluded.failures,
        failing_since = CASE WHEN e.url = excluded.url THEN e.failing_since ELSE now() END,
        probes = CASE WHEN e.url = excluded.url THEN e.probes ELSE 0 END,
        paused_at = CASE WHEN e.url = excluded.url
          AND e.failing_since <= now() - make_interval(secs => ${pauseAfterMs}::float8 / 1000)
          THEN coalesce(e.paused_at, CASE WHEN e.merchant_id IN (SELECT merchant_id FROM in_earnest)
            THEN now() END) END,
        next_probe_at = CASE WHEN e.url = excluded.url
          AND e.failing_since <= now() - make_interval(secs => ${pauseAfterMs}::float8 / 1000)
          THEN coalesce(e.next_probe_at, CASE WHEN e.merchant_id IN (SELECT merchant_id FROM in_earnest)
            THEN now() + make_interval(secs => ${waitingProbeMs}::float8 / 1000) END) END),
    -- What is behind an event that waits is due no sooner, so that no claim passes over it; a late acknowledgement ends
    -- that. An event is written with its payment's earlier ones or after them, so that few come while one waits.
    behind AS MATERIALIZED (
      SELECT f.id, t.merchant_id, t.delay_ms FROM mark t CROSS JOIN LATERAL (
        SELECT f.id FROM book.outbox f
        WHERE f.payment_id = (
            SELECT o.payment_id FROM book.outbox o
            WHERE o.id = t.event_id AND o.merchant_id = t.merchant_id AND o.status = 'PENDING'
              AND CASE t.result WHEN 'delivered' THEN o.attempts > t.attempt ELSE o.attempts = t.attempt END)
          -- so written, no index that begins with the merchant is read
          AND f.merchant_id IS NOT DISTINCT FROM t.merchant_id
          -- one whose own attempt ends here is written below: of two writes of a row in one statement one is lost
          AND f.id NOT IN (SELECT m.event_id FROM mark m)
          -- one that was tried before, and is sent again, keeps a later time of its own
          AND f.status = 'PENDING' AND f.id > t.event_id AND (f.attempts = 0 OR t.result = 'delivered'
            OR f.next_attempt_at < now() + make_interval(secs => t.delay_ms / 1000.0))
        ORDER BY f.payment_id, f.id LIMIT ${BEHIND} FOR NO KEY UPDATE SKIP LOCKED) f
      WHERE t.result = 'delivered' OR t.delay_ms > 0 AND NOT (t.result = 'released' AND t.attempt = 1)),
    postponed AS (
      UPDATE book.outbox o SET next_attempt_at = now() + make_interval(secs => b.delay_ms / 1000.0)
      FROM behind b WHERE o.id = b.id AND o.merchant_id = b.merchant_id),
    marked AS (
      UPDATE book.outbox o SET
        status = CASE t.result WHEN 'delivered' THEN 'DELIVERED' WHEN 'failed' THEN 'FAILED'
                                ELSE 'PENDING' END,
        delivered_at = CASE t.result WHEN 'delivered' THEN now() ELSE o.delivered_at END,
        -- one that was never tried is due at once: another node may open its merchant's secret
        next_attempt_at = now() + make_interval(secs => CASE
          WHEN t.result = 'released' AND o.attempts = 1 THEN 0 ELSE t.delay_ms / 1000.0 END),
        attempts = CASE t.result WHEN 'released' THEN o.attempts - 1 ELSE o.attempts END,
        claimed_until = NULL,
        last_outcome = t.outcome
      FROM mark t
      WHERE o.id = t.event_id AND o.merchant_id = t.merchant_id AND o.status = 'PENDING'
        AND (o.attempts = t.attempt OR t.result = 'delivered'))
    SELECT merchant_id FROM missed WHERE recovered_at IS NOT NULL
    UNION ALL SELECT merchant_id FROM turned WHERE recovered_at IS NOT NULL`;
  return rows.map((row) => row.merchant_id);
}

/**
 * Writes attempts that were all acknowledged, by endpoints of which nothing bad is known and which
 * are owed nothing.
 *
 * @returns false, and nothing is written, where one of them is another
 */
async function markAcknowledged(sql: Sql, marks: readonly AttemptMark[]): Promise<boolean> {
  if (marks.some(({ result }) => result.kind !== "delivered")) return false;
  const [row] = await sql<{ marked: boolean }[]>`
    SELECT book.mark_acknowledged(
      ${marks.map((mark) => mark.eventId)}::text[],
      ${marks.map((mark) => mark.merchantId)}::text[],
      ${marks.map((mark) => mark.attempt)}::int[],
      ${marks.map((mark) => mark.outcome)}::text[],
      ${marks.map((mark) => mark.httpStatus)}::int[],
      ${marks.map((mark) => mark.durationMs)}::int[],
      ${marks.map((mark) => mark.answer)}::text[]) AS marked`;
  return row?.marked === true;
}

const placeShape = shape({ id: text(), merchantId: text(), place: integer() });

/**
 * Locks all that attempts write and that is free, without waiting for anything: the merchants'
 * locks, their endpoints' rows and second chances, and the events.
 *
 * @param tx the transaction that writes the others afterwards; it has locked nothing yet
 * @returns the attempts that cannot be written now, as another transaction holds what they write
 */
async function findHeldMarks(
  tx: AnySql,
  marks: readonly AttemptMark[],
): Promise<ReadonlySet<AttemptMark>> {
  const merchantIds = [...new Set(marks.map(({ merchantId }) => merchantId))];
  // the lists of what was locked are read whole before anything is compared with them
  const given = marks.map(({ eventId, merchantId }, place) => ({ id: eventId, merchantId, place }));
  const rows = await tx<{ place: number }[]>`
    WITH given AS MATERIALIZED (SELECT * FROM ${placeShape.rows(tx, "t", given)}),
    merchants AS MATERIALIZED (
      SELECT m.id, ${tryEndpointLock(tx, endpointKey(tx, tx`m.id`))} AS is_free
      FROM unnest(${merchantIds}::text[]) m (id)),
    endpoints AS MATERIALIZED (
      SELECT merchant_id FROM book.webhook_endpoint WHERE merchant_id = ANY (${merchantIds}::text[])
      FOR UPDATE SKIP LOCKED),
    chances AS MATERIALIZED (
      SELECT merchant_id FROM book.second_chance WHERE merchant_id = ANY (${merchantIds}::text[])
      FOR NO KEY UPDATE SKIP LOCKED),
    events AS MATERIALIZED (
      SELECT o.id, o.merchant_id FROM given s JOIN book.outbox o ON o.id = s.id AND o.merchant_id = s.merchant_id
      WHERE o.status = 'PENDING' FOR NO KEY UPDATE OF o SKIP LOCKED)
    SELECT s.place FROM given s
    JOIN merchants m ON m.id = s.merchant_id
    LEFT JOIN book.webhook_endpoint e ON e.merchant_id = s.merchant_id
    LEFT JOIN book.second_chance c ON c.merchant_id = s.merchant_id
    LEFT JOIN book.outbox o ON o.id = s.id AND o.merchant_id = s.merchant_id AND o.status = 'PENDING'
    WHERE NOT m.is_free
      OR e.merchant_id IS NOT NULL AND e.merchant_id <> ALL (coalesce((SELECT array_agg(merchant_id) FROM endpoints), '{}'))
      OR c.merchant_id IS NOT NULL AND c.merchant_id <> ALL (coalesce((SELECT array_agg(merchant_id) FROM chances), '{}'))
      OR o.id IS NOT NULL AND o.id <> ALL (coalesce((SELECT array_agg(id) FROM events), '{}'))`;
  const held = new Set<AttemptMark>();
  for (const { place } of rows) {
    const mark = marks[place];
    if (mark !== undefined) held.add(mark);
  }
  return held;
}
