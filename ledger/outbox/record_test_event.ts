import type { Sql } from "../database/connect.ts";

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
 * Writes a test delivery into the merchant's delivery log; it is never tried again by itself. One
 * that was acknowledged ends a pause of the endpoint.
 */
export async function recordTestEvent(sql: Sql, event: TestEvent): Promise<void> {
  const at = new Date(event.createdAt);
  await sql`
    WITH event AS (
      INSERT INTO book.outbox (id, merchant_id, payment_id, type, payload, status, attempts,
        last_outcome, created_at, delivered_at)
      VALUES (${event.eventId}, ${event.merchantId}, ${event.eventId}, ${event.type},
        ${event.payload}, ${event.acknowledged ? "DELIVERED" : "FAILED"}, 1, ${event.outcome},
        ${at}, ${event.acknowledged ? at : null})
      RETURNING id, merchant_id),
    -- without this line the next event that gets through would have it sent once more
    spent AS (
      INSERT INTO book.event_revival (event_id, merchant_id) SELECT id, merchant_id FROM event),
    resumed AS (
      DELETE FROM book.webhook_endpoint
      WHERE ${event.acknowledged} AND merchant_id = ${event.merchantId})
    INSERT INTO book.delivery_attempt
      (event_id, number, merchant_id, outcome, http_status, duration_ms, answer)
    SELECT id, 1, merchant_id, ${event.outcome}, ${event.httpStatus}::int, ${event.durationMs}::int,
      ${event.answer}
    FROM event`;
}
