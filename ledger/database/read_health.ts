import type { Sql } from "./connect.ts";

/** Merchants of whom events wait that one look goes through. */
const MERCHANTS = 1_000;

/** What operators are warned of. */
export interface Health {
  /** Events whose time came and that nobody tried to deliver, of the merchants that were looked at. */
  readonly untriedEvents: number;
  /** Inbox rows that were quarantined and wait for somebody, by a bug or by an unexpected outcome. */
  readonly quarantinedRows: number;
  /** After which merchant the next look goes on; the same again while this one found something. */
  readonly goOn: string;
}

/**
 * Reads what operators are warned of. The backlog of a paused endpoint is not: of 1,000 merchants
 * each only the oldest events are looked at, so that this costs the same whatever waits.
 *
 * @param after the merchants behind this one; what the last look returned, so that none is left out
 */
export async function readHealth(sql: Sql, untriedSeconds: number, after = ""): Promise<Health> {
  const [row] = await sql<{ untried: string; quarantined: string; last: string | null }[]>`
    WITH RECURSIVE waiting AS (
      (SELECT o.merchant_id FROM book.outbox o WHERE o.status = 'PENDING' AND o.merchant_id > ${after}
       ORDER BY o.merchant_id LIMIT 1)
      UNION ALL
      SELECT n.merchant_id FROM waiting w CROSS JOIN LATERAL (
        SELECT o.merchant_id FROM book.outbox o
        WHERE o.status = 'PENDING' AND o.merchant_id > w.merchant_id ORDER BY o.merchant_id LIMIT 1) n),
    looked AS MATERIALIZED (SELECT merchant_id FROM waiting LIMIT ${MERCHANTS})
    SELECT
      (SELECT count(*) FROM looked w CROSS JOIN LATERAL (
        SELECT o.attempts, o.created_at FROM book.outbox o
        WHERE o.merchant_id = w.merchant_id AND o.status = 'PENDING' ORDER BY o.id LIMIT 100) o
       WHERE o.attempts = 0 
         AND (o.created_at < now() - make_interval(secs => ${untriedSeconds})
           -- made while a clock was wrong: how long it has waited cannot be told
           OR o.created_at > now() + make_interval(secs => ${untriedSeconds}))
         AND NOT EXISTS (SELECT FROM book.webhook_endpoint e
                         WHERE e.merchant_id = w.merchant_id AND e.paused_at IS NOT NULL)) AS untried,
      (SELECT CASE WHEN count(*) = ${MERCHANTS} THEN max(merchant_id) END FROM looked) AS last,
      (SELECT count(*) FROM book.inbox WHERE consumed_at IS NULL AND quarantine IS NOT NULL
        AND quarantine NOT LIKE 'unclaimed:%' AND quarantine NOT LIKE 'claimed:%'
        AND quarantine NOT LIKE 'unproven:%') AS quarantined`;
  const untriedEvents = Number(row?.untried ?? 0);
  // what was found is looked at again, so that it is told until it is over
  const goOn = untriedEvents > 0 ? after : row?.last ?? "";
  return { untriedEvents, quarantinedRows: Number(row?.quarantined ?? 0), goOn };
}
