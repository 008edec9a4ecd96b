import { type HubAudit, writeAudit } from "../audit.ts";
import type { Sql } from "../database/connect.ts";
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
 * Writes a test delivery into the merchant's delivery log; it is never tried again by itself. One
 * that was acknowledged ends a pause of the endpoint, and what ran out of retries lately is queued
 * once more.
 *
 * @param audit the line of the audit, null where none is due; in the same transaction
 */
export async function recordTestEvent(
  sql: Sql,
  event: TestEvent,
  audit: HubAudit | null,
): Promise<void> {
  const { acknowledged, merchantId } = event;
  await sql.begin(async (tx) => {
    if (acknowledged) await endpointRecovered(tx, merchantId);
    await tx`
      WITH event AS (
        INSERT INTO book.outbox (id, merchant_id, payment_id, type, payload, status, attempts,
          last_outcome, created_at, delivered_at)
        VALUES (${event.eventId}, ${merchantId}, ${event.eventId}, ${event.type},
          ${event.payload}, ${acknowledged ? "DELIVERED" : "FAILED"}, 1, ${event.outcome},
          ${new Date(event.createdAt)}, CASE WHEN ${acknowledged} THEN now() END)
        RETURNING id, merchant_id),
      -- without this line the next event that gets through would have it sent once more
      spent AS (
        INSERT INTO book.event_revival (event_id, merchant_id) SELECT id, merchant_id FROM event)
      INSERT INTO book.delivery_attempt
        (event_id, number, merchant_id, outcome, http_status, duration_ms, answer)
      SELECT id, 1, merchant_id, ${event.outcome}, ${event.httpStatus}::int,
        ${event.durationMs}::int, ${event.answer}
      FROM event`;
    if (audit !== null) await writeAudit(tx, audit);
  });
}
