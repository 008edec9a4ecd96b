import type { Fragment } from "postgres";
import { type HubAudit, writeAudit } from "../audit.ts";
import type { AnySql, Sql } from "../database/connect.ts";
import type { Page, PageRequest } from "../lists/list_page.ts";
import { type EventRow, eventTable } from "../rows.ts";
import { UNDER_ONE_USD } from "./withheld.ts";
import { lockEndpointSoon } from "./endpoints.ts";

/** One attempt to deliver an event. */
export interface ListedAttempt {
  readonly number: number;
  /** One word, for example `timeout`. */
  readonly outcome: string;
  readonly httpStatus: number | null;
  readonly durationMs: number;
  /** Beginning of the answer. */
  readonly answer: string | null;
  /** Unix milliseconds. */
  readonly endedAt: number;
}

/** Newest attempts of an event that are read: each redelivery makes one more, with up to 2 kB of the answer. */
export const ATTEMPTS_READ = 50;

/** An event with the newest attempts to deliver it, oldest attempt first. */
export interface ListedDelivery extends EventRow {
  readonly tries: readonly ListedAttempt[];
}

export const EVENT_STATUSES = [
  "PENDING",
  "DELIVERED",
  "FAILED",
  "SKIPPED",
] as const satisfies readonly EventRow["status"][];

/** Which events are wanted; an undefined field does not restrict. */
export interface DeliveryFilter {
  readonly id?: string | undefined;
  readonly status?: EventRow["status"] | undefined;
  readonly type?: string | undefined;
  /** Not older than, Unix milliseconds. */
  readonly from?: number | undefined;
  /** Older than, Unix milliseconds. */
  readonly until?: number | undefined;
}

/**
 * One page of a merchant's delivery log, newest first. Counts per bucket of time say where the page
 * begins, so that it costs the same anywhere in the log; an event is looked for by its id alone.
 */
export async function listDeliveries(
  sql: Sql,
  merchantId: string,
  filter: DeliveryFilter,
  { page, limit }: PageRequest,
): Promise<Page<ListedDelivery>> {
  const offset = (page - 1) * limit;
  const found = filter.id === undefined
    ? pageOfLog(sql, merchantId, filter, offset, limit)
    : sql`page AS (SELECT ${filter.id} AS id), counted AS (SELECT 1 AS total)`;
  const rows = await sql`
    WITH ${found}
    SELECT c.total, o.*, t.tries FROM counted c LEFT JOIN page p ON true
    LEFT JOIN book.outbox o ON o.id = p.id AND o.merchant_id = ${merchantId}
    LEFT JOIN LATERAL (
      SELECT json_agg(json_build_object('number', a.number, 'outcome', a.outcome,
        'httpStatus', a.http_status, 'durationMs', a.duration_ms, 'answer', a.answer,
        'endedAt', floor(extract(epoch FROM a.ended_at) * 1000)) ORDER BY a.number) AS tries
      FROM (
        SELECT * FROM book.delivery_attempt x WHERE x.event_id = o.id AND x.merchant_id = ${merchantId}
        ORDER BY x.event_id, x.number DESC LIMIT ${ATTEMPTS_READ}) a) t ON true
    ORDER BY o.id DESC`;
  return {
    total: Number(rows[0]?.total ?? 0),
    rows: rows.filter((row) => row.id !== null).map((row) => ({
      ...eventTable.decode(row),
      tries: (row["tries"] ?? []) as readonly ListedAttempt[],
    })),
  };
}

/**
 * CTEs `counted (total)` and `page (id)`. Events that wait are counted as they are, the others from
 * the kept counts; the buckets at the ends of a range of times are counted row by row.
 */
function pageOfLog(
  sql: Sql,
  merchantId: string,
  filter: DeliveryFilter,
  offset: number,
  limit: number,
): Fragment {
  const { status, type, from, until } = filter;
  const statuses = status === undefined ? EVENT_STATUSES : [status];
  const ended = statuses.filter((one) => one !== "PENDING");
  // an event is never older than its id; the margin is for clocks that differ
  const ends = [from, until].flatMap((time) =>
    time === undefined ? [] : [bucketAt(time - MARGIN_MS), bucketAt(time)]
  );
  const first = from === undefined ? "" : bucketAt(from - MARGIN_MS);
  const last = until === undefined ? "~" : bucketAt(until);
  const kept = (table: Fragment) =>
    sql`SELECT k.bucket, k.count AS n FROM ${table} k
      WHERE k.merchant_id = ${merchantId} AND k.status = ANY (${ended}::text[])
        AND k.bucket >= ${first} AND k.bucket <= ${last} AND k.bucket <> ALL (${ends}::text[])
        ${type === undefined ? sql`` : sql`AND k.type = ${type}`}`;
  const matching = (one: Fragment) =>
    sql`FROM book.outbox o WHERE o.merchant_id = ${merchantId} AND ${one}
      ${conditions(sql, filter)}`;
  return sql`waiting AS MATERIALIZED (
      SELECT o.id ${matching(sql`o.status = 'PENDING' AND ${statuses.includes("PENDING")}`)}),
    bucket AS MATERIALIZED (
      SELECT bucket, sum(n) AS n FROM (
        ${kept(sql`book.event_count`)} UNION ALL ${kept(sql`book.event_delta`)}
        UNION ALL SELECT book.event_bucket(id), 1 FROM waiting
        UNION ALL SELECT e.bucket, 1
        FROM (SELECT DISTINCT bucket FROM unnest(${ends}::text[]) e(bucket)) e,
          unnest(${ended}::text[]) s(status), LATERAL (
            SELECT o.id ${
    matching(sql`o.status = s.status AND o.id >= e.bucket AND o.id < e.bucket || '~'`)
  }) r) part
      GROUP BY bucket HAVING sum(n) > 0),
    counted AS (SELECT coalesce(sum(n), 0) AS total FROM bucket),
    passed AS (SELECT bucket, n, sum(n) OVER (ORDER BY bucket DESC) AS upto FROM bucket),
    wanted AS MATERIALIZED (
      SELECT bucket, upto - n AS before FROM passed
      WHERE upto > ${offset}::bigint AND upto - n < ${offset + limit}::bigint),
    range AS MATERIALIZED (
      SELECT min(bucket) AS low, max(bucket) || '~' AS high,
        ${offset}::bigint - min(before) AS skipped FROM wanted),
    page AS (
      SELECT x.id FROM range g, unnest(${[...statuses]}::text[]) s(status), LATERAL (
        SELECT o.id ${matching(sql`o.status = s.status AND o.id >= g.low AND o.id < g.high`)}
        ORDER BY o.id DESC LIMIT (SELECT skipped FROM range) + ${limit}::bigint) x
      ORDER BY x.id DESC OFFSET (SELECT skipped FROM range) LIMIT ${limit})`;
}

/** Greatest difference of the time in an event's id and the time it was booked at, milliseconds. */
const MARGIN_MS = 3_600_000;
/** Prefix of an event's id, and how many milliseconds its next six digits count by. */
const PREFIX = "evt_";
const BUCKET_MS = 2 ** 24;

/** The bucket of ids that a time lies in; see `book.event_bucket`. */
function bucketAt(time: number): string {
  const bucket = Math.max(Math.floor(time / BUCKET_MS), 0);
  return PREFIX + bucket.toString(16).padStart(6, "0");
}

function conditions(sql: Sql, { type, from, until }: DeliveryFilter): Fragment {
  return sql`
    ${type === undefined ? sql`` : sql`AND o.type = ${type}`}
    ${from === undefined ? sql`` : sql`AND o.created_at >= ${new Date(from)}`}
    ${until === undefined ? sql`` : sql`AND o.created_at < ${new Date(until)}`}`;
}

/**
 * Puts an event of a merchant back in line, whatever became of it, for at least one more attempt.
 * An event that waits already is due at once; one that is being delivered is left to its attempt.
 * A pause of the endpoint ends, so that it is tried.
 *
 * @returns whether the merchant has such an event
 */
export async function redeliverEvent(
  sql: Sql,
  merchantId: string,
  eventId: string,
): Promise<boolean> {
  return await sql.begin(async (tx) => {
    await lockEndpointSoon(tx, merchantId);
    const rows = await tx`
      WITH queued AS (
        UPDATE book.outbox o SET status = 'PENDING', next_attempt_at = now(),
          claimed_until = CASE o.status WHEN 'PENDING' THEN o.claimed_until END
        WHERE o.id = ${eventId} AND o.merchant_id = ${merchantId}
        RETURNING o.merchant_id, o.id, o.payment_id, o.attempts),
      -- they have the time of the one that they are behind (markAttempts)
      behind AS (
        UPDATE book.outbox o SET next_attempt_at = now()
        WHERE o.payment_id = (SELECT q.payment_id FROM queued q) AND o.merchant_id IS NOT DISTINCT FROM ${merchantId}
          AND o.status = 'PENDING' AND o.id > ${eventId} AND o.next_attempt_at > now()),
      forgotten AS (${forgetAttempts(tx, merchantId)}),
      resumed AS (
        DELETE FROM book.webhook_endpoint WHERE merchant_id IN (SELECT merchant_id FROM queued))
      SELECT 1 FROM queued`;
    return rows.length > 0;
  });
}

/** Attempts of an event that are forgotten by one redelivery: more than its retries make. */
const FORGOTTEN = 100;

/**
 * Statement that forgets the attempts which are read no more, of the events of a CTE `queued (id, attempts)`: a
 * merchant may have its events sent again without end, and each attempt keeps 2 kB of the answer. They are found
 * event by event, whatever the planner knows of the table.
 */
function forgetAttempts(sql: AnySql, merchantId: string): Fragment {
  return sql`
    DELETE FROM book.delivery_attempt WHERE ctid = ANY (ARRAY(
      SELECT x.ctid FROM queued q CROSS JOIN LATERAL (
        SELECT a.ctid FROM book.delivery_attempt a
        WHERE a.event_id = q.id AND a.number <= q.attempts - ${ATTEMPTS_READ}::int
          AND a.merchant_id = ${merchantId}
        ORDER BY a.event_id, a.number LIMIT ${FORGOTTEN}) x))`;
}

/** Which events are to be sent once more. */
export interface RedeliverRange {
  readonly status: Exclude<EventRow["status"], "PENDING">;
  /** Name of the event; undefined: all but test events. */
  readonly type?: string | undefined;
  /** Not older than, Unix milliseconds. */
  readonly from: number;
  /** Older than, Unix milliseconds. */
  readonly until: number;
  /** Only events after this one; undefined: from the oldest. */
  readonly after?: string | undefined;
}

/** Events that were put back in line. */
export interface Redelivered {
  readonly count: number;
  /** The last event that was looked at, or of a complete range the last of them; null: there is none. */
  readonly lastId: string | null;
  /** True where the range holds no more. */
  readonly isComplete: boolean;
}

/**
 * Puts the events of a range back in line, the oldest first, each for at least one more attempt. A
 * pause of the endpoint ends, so that it is tried. Events of deposits under 1 USD are left out: one of them is
 * sent where it is named alone.
 *
 * @param limit the most that are looked at, so that a range in which few match costs no more than one of
 *   which all do
 * @param audit the line of the audit for that many, null where none is due; in the same transaction
 */
export async function redeliverEvents(
  sql: Sql,
  merchantId: string,
  range: RedeliverRange,
  limit: number,
  audit: (found: Redelivered) => HubAudit | null,
): Promise<Redelivered> {
  return await sql.begin(async (tx) => {
    await lockEndpointSoon(tx, merchantId);
    const [row] = await tx<
      { count: string; last_id: string | null; looked: string; last_looked: string | null }[]
    >`
      WITH looked AS MATERIALIZED (
        SELECT o.id, o.type, o.created_at, o.last_outcome FROM book.outbox o
        WHERE o.merchant_id = ${merchantId} AND o.status = ${range.status}
          AND o.id >= ${bucketAt(range.from - MARGIN_MS)} AND o.id < ${bucketAt(range.until)} || '~'
          AND o.id > ${range.after ?? ""}
        ORDER BY o.merchant_id, o.status, o.id LIMIT ${limit}),
      due AS MATERIALIZED (
        SELECT o.id FROM looked o
        WHERE o.created_at >= ${new Date(range.from)} AND o.created_at < ${new Date(range.until)}
          AND o.last_outcome IS DISTINCT FROM ${UNDER_ONE_USD}
          ${
      range.type === undefined ? tx`AND o.type <> 'webhook.test'` : tx`AND o.type = ${range.type}`
    }),
      queued AS (
        UPDATE book.outbox o SET status = 'PENDING', next_attempt_at = now(), claimed_until = NULL
        -- by their ids, whatever the planner knows of the merchant: joined, all its events were compared with all that are due
        WHERE o.id = ANY (ARRAY(SELECT d.id FROM due d)) AND o.merchant_id IS NOT DISTINCT FROM ${merchantId}
          AND o.status IS NOT DISTINCT FROM ${range.status}
        RETURNING o.id, o.attempts),
      forgotten AS (${forgetAttempts(tx, merchantId)}),
      resumed AS (
        DELETE FROM book.webhook_endpoint
        WHERE merchant_id = ${merchantId} AND EXISTS (SELECT FROM due))
      SELECT q.count, q.last_id, l.looked, l.last_looked
      FROM (SELECT count(*) AS count, max(id) AS last_id FROM queued) q,
        (SELECT count(*) AS looked, max(id) AS last_looked FROM looked) l`;
    const isComplete = Number(row?.looked ?? 0) < limit;
    const found = {
      count: Number(row?.count ?? 0),
      lastId: (isComplete ? row?.last_id : row?.last_looked) ?? null,
      isComplete,
    };
    const line = audit(found);
    if (line !== null) await writeAudit(tx, line);
    return found;
  });
}

/** Counts added by one statement. */
const AT_A_TIME = 10_000;

/**
 * Adds the counts of events that have ended meanwhile to the kept ones. Readers see every event
 * counted once at any time; several nodes may do it at once.
 *
 * @returns how many there were
 */
export async function foldEventCounts(sql: Sql): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    WITH taken AS (
      DELETE FROM book.event_delta WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM book.event_delta LIMIT ${AT_A_TIME} FOR UPDATE SKIP LOCKED))
      RETURNING *),
    folded AS (
      INSERT INTO book.event_count AS c (merchant_id, bucket, status, type, count)
      SELECT merchant_id, bucket, status, type, sum(count) FROM taken
      GROUP BY 1, 2, 3, 4 HAVING sum(count) <> 0 ORDER BY 1, 2, 3, 4
      ON CONFLICT (merchant_id, bucket, status, type) DO UPDATE SET count = c.count + excluded.count)
    SELECT count(*)::int AS n FROM taken`;
  return row?.n ?? 0;
}
