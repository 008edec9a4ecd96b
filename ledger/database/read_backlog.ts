import { oldestWaiting } from "../outbox/oldest_waiting.ts";
import type { Sql } from "./connect.ts";

/** The most rows that are counted of a kind: a backlog of more is as bad, and this costs the same. */
const MOST = 10_000;
/** Merchants whose oldest waiting event is looked at. */
const MERCHANTS = 1_000;

/** The backlog of the database; counts end at 10,000. */
export interface Backlog {
  readonly inboxWaiting: number;
  readonly inboxQuarantined: number;
  readonly callbacksWaiting: number;
  /** Age of the oldest event of an endpoint that is not paused, of the first merchants; 0: none. */
  readonly callbacksOldestMs: number;
  readonly pausedEndpoints: number;
  /** Withdrawals and settlements that an administrator has to approve. */
  readonly withdrawalApprovals: number;
  readonly settlementApprovals: number;
}

/** Counts what waits, by indexes that have nothing else. */
export async function readBacklog(sql: Sql): Promise<Backlog> {
  const [row] = await sql<Record<keyof Backlog, string | null>[]>`
    WITH RECURSIVE waiting AS (
      (SELECT o.merchant_id FROM book.outbox o WHERE o.status = 'PENDING'
       ORDER BY o.merchant_id LIMIT 1)
      UNION ALL
      SELECT n.merchant_id FROM waiting w CROSS JOIN LATERAL (
        SELECT o.merchant_id FROM book.outbox o
        WHERE o.status = 'PENDING' AND o.merchant_id > w.merchant_id
        ORDER BY o.merchant_id LIMIT 1) n),
    first_of AS MATERIALIZED (
      SELECT w.merchant_id, n.created_at FROM (SELECT * FROM waiting LIMIT ${MERCHANTS}) w
      CROSS JOIN LATERAL (${oldestWaiting(sql, sql`w.merchant_id`, sql`o.created_at`, 1)}) n)
    SELECT
      (SELECT count(*) FROM (SELECT FROM book.inbox
        WHERE consumed_at IS NULL AND quarantine IS NULL LIMIT ${MOST}) x) AS "inboxWaiting",
      (SELECT count(*) FROM (SELECT FROM book.inbox
        WHERE consumed_at IS NULL AND quarantine IS NOT NULL LIMIT ${MOST}) x) AS "inboxQuarantined",
      (SELECT count(*) FROM (SELECT FROM book.outbox
        WHERE status = 'PENDING' LIMIT ${MOST}) x) AS "callbacksWaiting",
      (SELECT extract(epoch FROM now() - min(f.created_at)) * 1000 FROM first_of f
        WHERE NOT EXISTS (SELECT FROM book.webhook_endpoint e
          WHERE e.merchant_id = f.merchant_id AND e.paused_at IS NOT NULL)) AS "callbacksOldestMs",
      (SELECT count(*) FROM book.webhook_endpoint WHERE paused_at IS NOT NULL) AS "pausedEndpoints",
      (SELECT count(*) FROM (SELECT FROM book.withdrawal
        WHERE status = 'PENDING_APPROVAL' LIMIT ${MOST}) x) AS "withdrawalApprovals",
      (SELECT count(*) FROM (SELECT FROM book.settlement
        WHERE status = 'APPROVAL_REQUIRED' LIMIT ${MOST}) x) AS "settlementApprovals"`;
  const figure = (name: keyof Backlog) => Math.max(0, Number(row?.[name] ?? 0));
  return {
    inboxWaiting: figure("inboxWaiting"),
    inboxQuarantined: figure("inboxQuarantined"),
    callbacksWaiting: figure("callbacksWaiting"),
    callbacksOldestMs: figure("callbacksOldestMs"),
    pausedEndpoints: figure("pausedEndpoints"),
    withdrawalApprovals: figure("withdrawalApprovals"),
    settlementApprovals: figure("settlementApprovals"),
  };
}
