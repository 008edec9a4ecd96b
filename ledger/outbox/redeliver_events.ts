import { type HubAudit, writeAudit } from "../audit.ts";
import type { Sql } from "../database/connect.ts";
import type { EventRow } from "../rows.ts";
import { lockEndpoint } from "./lock_endpoint.ts";

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

/** What was put back in line. */
export interface Redelivered {
  readonly count: number;
  /** The last of them; null where there was none. */
  readonly lastId: string | null;
}

/**
 * Puts the events of a range back in line, the oldest first, each for at least one more attempt. A
 * pause of the endpoint ends: somebody wants to have it tried.
 *
 * @param limit the most that are taken
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
    await lockEndpoint(tx, merchantId);
    const [row] = await tx<{ count: string; last_id: string | null }[]>`
      WITH due AS MATERIALIZED (
        SELECT o.id FROM book.outbox o
        WHERE o.merchant_id = ${merchantId} AND o.status = ${range.status}
          AND o.created_at >= ${new Date(range.from)} AND o.created_at < ${new Date(range.until)}
          AND o.id > ${range.after ?? ""}
          ${
      range.type === undefined ? tx`AND o.type <> 'webhook.test'` : tx`AND o.type = ${range.type}`
    }
        ORDER BY o.id LIMIT ${limit} FOR UPDATE),
      queued AS (
        UPDATE book.outbox o SET status = 'PENDING', next_attempt_at = now(), claimed_until = NULL
        FROM due d WHERE o.id = d.id AND o.merchant_id = ${merchantId} RETURNING o.id),
      resumed AS (
        DELETE FROM book.webhook_endpoint
        WHERE merchant_id = ${merchantId} AND EXISTS (SELECT FROM due))
      SELECT count(*) AS count, max(id) AS last_id FROM queued`;
    const found = { count: Number(row?.count ?? 0), lastId: row?.last_id ?? null };
    const line = audit(found);
    if (line !== null) await writeAudit(tx, line);
    return found;
  });
}
