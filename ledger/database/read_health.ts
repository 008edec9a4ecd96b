import { oldestWaiting } from "../outbox/oldest_waiting.ts";
import type { Sql } from "./connect.ts";

/** Merchants of whom events wait that one call goes through. */
const MERCHANTS = 1_000;
/** Events of each that are looked at. */
const EVENTS = 100;

/** The most rows of a kind that are counted: more of them are as bad, and cost the same. */
const MOST = 1_000;
/** Kinds of quarantined rows that are no fault: they wait for something, or are reported apart. */
const NO_FAULT = ["unclaimed", "claimed", "unproven", "misdirected"] as const;

/** Figures that operators are warned by. */
export interface Health {
  /** Events whose time came and that were not tried, of the merchants that this call counts. */
  readonly untriedEvents: number;
  /** Inbox rows that were quarantined by a bug or by an unexpected outcome and wait for an operator; 1,000 at most of a kind. */
  readonly quarantinedRows: number;
  /** Transfers that came in on another network than their address' and wait for an operator, 1,000 at most. */
  readonly misdirectedRows: number;
  /** Merchant after which the next call continues; the same again while this one found something. */
  readonly continueAfter: string;
}

/**
 * Reads the figures that operators are warned by. The backlog of a paused endpoint is not: of 1,000 merchants
 * each only the oldest events are counted, and of each kind of quarantined rows the first 1,000, so that this costs the
 * same whatever waits.
 *
 * @param after the merchants behind this one; what the last call returned, so that none is left out
 */
export async function readHealth(sql: Sql, untriedSeconds: number, after = ""): Promise<Health> {
  const [row] = await sql<
    {
      untried: string;
      quarantined: string | null;
      misdirected: string | null;
      last: string | null;
    }[]
  >`
    WITH RECURSIVE waiting AS (
      (SELECT o.merchant_id FROM book.outbox o WHERE o.status = 'PENDING' AND o.merchant_id > ${after}
       ORDER BY o.merchant_id LIMIT 1)
      UNION ALL
      SELECT n.merchant_id FROM waiting w CROSS JOIN LATERAL (
        SELECT o.merchant_id FROM book.outbox o
        WHERE o.status = 'PENDING' AND o.merchant_id > w.merchant_id ORDER BY o.merchant_id LIMIT 1) n),
    counted AS MATERIALIZED (SELECT merchant_id FROM waiting LIMIT ${MERCHANTS}),
    kind AS (
      (SELECT split_part(i.quarantine, ':', 1) AS kind FROM book.inbox i
       WHERE i.consumed_at IS NULL AND i.quarantine IS NOT NULL ORDER BY 1 LIMIT 1)
      UNION ALL
      SELECT n.kind FROM kind k CROSS JOIN LATERAL (
        SELECT split_part(i.quarantine, ':', 1) AS kind FROM book.inbox i
        WHERE i.consumed_at IS NULL AND i.quarantine IS NOT NULL AND split_part(i.quarantine, ':', 1) > k.kind
        ORDER BY 1 LIMIT 1) n),
    quarantined AS MATERIALIZED (
      SELECT k.kind, i.rows FROM kind k CROSS JOIN LATERAL (
        SELECT count(*) AS rows FROM (
          SELECT FROM book.inbox i WHERE i.consumed_at IS NULL AND i.quarantine IS NOT NULL
            AND split_part(i.quarantine, ':', 1) = k.kind
          ORDER BY i.network, i.data ->> 'currency', i.created_at LIMIT ${MOST}) i) i
      WHERE k.kind = 'misdirected' OR k.kind <> ALL (${[...NO_FAULT]}::text[]))
    SELECT
      (SELECT count(*) FROM counted w CROSS JOIN LATERAL (
        ${oldestWaiting(sql, sql`w.merchant_id`, sql`o.attempts, o.created_at`, EVENTS)}) o
       WHERE o.attempts = 0 
         AND (o.created_at < now() - make_interval(secs => ${untriedSeconds})
           -- made while a clock was wrong: how long it has waited cannot be told
           OR o.created_at > now() + make_interval(secs => ${untriedSeconds}))
         AND NOT EXISTS (SELECT FROM book.webhook_endpoint e
                         WHERE e.merchant_id = w.merchant_id AND e.paused_at IS NOT NULL)) AS untried,
      (SELECT CASE WHEN count(*) = ${MERCHANTS} THEN max(merchant_id) END FROM counted) AS last,
      (SELECT sum(rows) FROM quarantined WHERE kind <> 'misdirected') AS quarantined,
      (SELECT sum(rows) FROM quarantined WHERE kind = 'misdirected') AS misdirected`;
  const untriedEvents = Number(row?.untried ?? 0);
  // the same merchants again while something is found, so that the warning stays until it is over
  const continueAfter = untriedEvents > 0 ? after : row?.last ?? "";
  return {
    untriedEvents,
    quarantinedRows: Number(row?.quarantined ?? 0),
    misdirectedRows: Number(row?.misdirected ?? 0),
    continueAfter,
  };
}
