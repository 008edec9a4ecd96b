import { type HubAudit, writeAudit } from "../audit.ts";
import type { Sql } from "../database/connect.ts";
import { shape } from "../shape.ts";
import { bigint, boolean, orNull, type RowOf, text, time } from "../table.ts";
import { endpointRecovered } from "./second_chances.ts";

/** A test delivery that was made. */
export interface TestEvent {
  readonly eventId: string;
  readonly merchantId: string;
  readonly type: string;
  readonly payload: string;
  readonly acknowledged: boolean;
  /** One word, for example `timeout`. */
  readonly outcome: string;
  readonly httpStatus: number | null;
  readonly durationMs: number;
  /** Beginning of the answer. */
  readonly answer: string | null;
  readonly createdAt: number;
}

/**
 * Writes a test delivery to the merchant's delivery log; it is never tried again by itself. One
 * that was acknowledged ends a pause of the endpoint, and what ran out of retries lately is queued
 * once more.
 *
 * @param audit the line of the audit, null where none is due; in the same transaction
 * @param endsPause `false` where the merchant's outbox was not free in time: nothing is locked
 */
export async function recordTestEvent(
  sql: Sql,
  event: TestEvent,
  audit: HubAudit | null,
  endsPause = event.acknowledged,
): Promise<void> {
  const { acknowledged, merchantId } = event;
  await sql.begin(async (tx) => {
    if (endsPause) await endpointRecovered(tx, merchantId);
    await tx`
      WITH event AS (
        INSERT INTO book.outbox (id, merchant_id, payment_id, type, payload, status, attempts,
          last_outcome, created_at, delivered_at)
        VALUES (${event.eventId}, ${merchantId}, ${event.eventId}, ${event.type},
          ${event.payload}, ${acknowledged ? "DELIVERED" : "FAILED"}, 1, ${event.outcome},
          ${new Date(event.createdAt)}, CASE WHEN ${acknowledged} THEN now() END)
        RETURNING id, merchant_id),
      -- without this line the next event that gets through would have it sent once more
      revived AS (
        INSERT INTO book.event_revival (event_id, merchant_id) SELECT id, merchant_id FROM event)
      INSERT INTO book.delivery_attempt
        (event_id, number, merchant_id, outcome, http_status, duration_ms, answer)
      SELECT id, 1, merchant_id, ${event.outcome}, ${event.httpStatus}::int,
        ${event.durationMs}::int, ${event.answer}
      FROM event`;
    if (audit !== null) await writeAudit(tx, audit);
  });
}

/** The most waiting or failed events that are counted. */
export const COUNTED_AT_MOST = 100_000;

const failingShape = shape({
  failingSince: time(),
  /** Attempts since then. */
  failures: bigint(),
  lastOutcome: text(),
  lastFailedAt: time(),
  pausedAt: orNull(time()),
  nextProbeAt: orNull(time()),
});
const statusShape = shape({
  /** True if there is a URL and it is switched on. */
  isOn: boolean(),
  /** Events that are still to be delivered; counted up to {@linkcode COUNTED_AT_MOST}. */
  waiting: bigint(),
  /** The last acknowledgement of an event that is still stored; null: none ever was. */
  lastDeliveredAt: orNull(time()),
});

/** State of a merchant's endpoint. Times are Unix milliseconds. */
export interface EndpointStatus extends RowOf<typeof statusShape> {
  /** Null: the newest answer was an acknowledgement. */
  readonly failing: RowOf<typeof failingShape> | null;
}

/** Reads what is known of a merchant's endpoint; null where there is no such merchant. */
export async function readEndpointStatus(
  sql: Sql,
  merchantId: string,
): Promise<EndpointStatus | null> {
  const [row] = await sql`
    SELECT m.webhook_enabled AND m.webhook_url IS NOT NULL AS is_on, e.failing_since, e.failures,
      e.last_outcome, e.last_failed_at, e.paused_at, e.next_probe_at,
      (SELECT count(*) FROM (
        SELECT FROM book.outbox o WHERE o.merchant_id = m.merchant_id AND o.status = 'PENDING'
        LIMIT ${COUNTED_AT_MOST}) w) AS waiting,
      (SELECT max(o.delivered_at) FROM book.outbox o
       WHERE o.merchant_id = m.merchant_id AND o.delivered_at IS NOT NULL) AS last_delivered_at
    FROM book.merchant m
    LEFT JOIN book.webhook_endpoint e ON e.merchant_id = m.merchant_id AND e.url = m.webhook_url
    WHERE m.merchant_id = ${merchantId}`;
  if (row === undefined) return null;
  const failing = row["failing_since"] === null ? null : failingShape.decode(row);
  return { ...statusShape.decode(row), failing };
}

const failingEndpoint = shape({
  merchantId: text(),
  url: text(),
  failingSince: time(),
  failures: bigint(),
  lastOutcome: text(),
  pausedAt: orNull(time()),
});

/** An endpoint that acknowledges nothing, with its merchant. Times are Unix milliseconds. */
export type FailingEndpoint = RowOf<typeof failingEndpoint>;

/** Reads the endpoints that are switched on and acknowledge nothing, those that fail longest first. */
export async function listFailingEndpoints(
  sql: Sql,
  limit: number,
): Promise<readonly FailingEndpoint[]> {
  const rows = await sql`
    SELECT e.merchant_id, e.url, e.failing_since, e.failures, e.last_outcome, e.paused_at
    FROM book.webhook_endpoint e
    JOIN book.merchant m ON m.merchant_id = e.merchant_id AND m.webhook_url = e.url AND m.webhook_enabled
    ORDER BY e.failing_since, e.merchant_id
    LIMIT ${limit}`;
  return rows.map((row) => failingEndpoint.decode(row));
}

/**
 * Forgets that an endpoint fails, and with it a pause: everything that is due goes out at once, and
 * what ran out of retries lately once more.
 *
 * @param audit the line of the audit, null where none is due; in the same transaction
 */
export async function resumeEndpoint(
  sql: Sql,
  merchantId: string,
  audit: HubAudit | null,
): Promise<void> {
  await sql.begin(async (tx) => {
    await endpointRecovered(tx, merchantId);
    if (audit !== null) await writeAudit(tx, audit);
  });
}
