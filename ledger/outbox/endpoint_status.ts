import { type HubAudit, writeAudit } from "../audit.ts";
import type { Sql } from "../database/connect.ts";
import { endpointRecovered } from "./second_chances.ts";

/** The most waiting or failed events that are counted. */
export const COUNTED_AT_MOST = 100_000;

/** What is known of a merchant's endpoint. Times are Unix milliseconds. */
export interface EndpointStatus {
  /** True if there is a URL and it is switched on. */
  readonly isOn: boolean;
  /** Since when nothing is acknowledged; null: the newest answer was an acknowledgement. */
  readonly failing: {
    readonly since: number;
    /** Attempts since then. */
    readonly failures: number;
    readonly lastOutcome: string;
    readonly lastFailedAt: number;
    readonly pausedAt: number | null;
    readonly nextProbeAt: number | null;
  } | null;
  /** Events that are still to be delivered; counted up to {@linkcode COUNTED_AT_MOST}. */
  readonly waiting: number;
  /** When an event that is still kept was last acknowledged; null: none ever was. */
  readonly lastDeliveredAt: number | null;
}

/** Reads what is known of a merchant's endpoint; null where there is no such merchant. */
export async function readEndpointStatus(
  sql: Sql,
  merchantId: string,
): Promise<EndpointStatus | null> {
  const [row] = await sql<{
    is_on: boolean;
    failing_since: Date | null;
    failures: string;
    last_outcome: string;
    last_failed_at: Date;
    paused_at: Date | null;
    next_probe_at: Date | null;
    waiting: string;
    delivered_at: Date | null;
  }[]>`
    SELECT m.webhook_enabled AND m.webhook_url IS NOT NULL AS is_on, e.failing_since, e.failures,
      e.last_outcome, e.last_failed_at, e.paused_at, e.next_probe_at,
      (SELECT count(*) FROM (
        SELECT FROM book.outbox o WHERE o.merchant_id = m.merchant_id AND o.status = 'PENDING'
        LIMIT ${COUNTED_AT_MOST}) w) AS waiting,
      (SELECT max(o.delivered_at) FROM book.outbox o
       WHERE o.merchant_id = m.merchant_id AND o.delivered_at IS NOT NULL) AS delivered_at
    FROM book.merchant m
    LEFT JOIN book.webhook_endpoint e ON e.merchant_id = m.merchant_id AND e.url = m.webhook_url
    WHERE m.merchant_id = ${merchantId}`;
  if (row === undefined) return null;
  return {
    isOn: row.is_on,
    failing: row.failing_since === null ? null : {
      since: row.failing_since.getTime(),
      failures: Number(row.failures),
      lastOutcome: row.last_outcome,
      lastFailedAt: row.last_failed_at.getTime(),
      pausedAt: row.paused_at?.getTime() ?? null,
      nextProbeAt: row.next_probe_at?.getTime() ?? null,
    },
    waiting: Number(row.waiting),
    lastDeliveredAt: row.delivered_at?.getTime() ?? null,
  };
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
