import type { Sql } from "../database/connect.ts";

/** Rows deleted by one statement. */
const AT_A_TIME = 1_000;

/**
 * Deletes inbox rows that were consumed long ago and that nothing looks at any more: what was seen
 * and vanished, that a settlement was sent, how a payout ended. The key of a row says that it was
 * told already, so only rows go whose being told again changes nothing, because the deposit or the
 * attempt itself says that they were booked. Rows of final transfers stay: what has come in on each
 * address is counted from them. So do margins and sweeps, rows that were set aside, and everything
 * of a deposit that is still pending.
 *
 * @param keepMs age from which on a row may go, milliseconds
 * @returns how many were deleted; {@linkcode AT_A_TIME} means that there may be more
 */
export async function pruneInbox(sql: Sql, keepMs: number): Promise<number> {
  const { count } = await sql`
    WITH limits AS (SELECT now() - make_interval(secs => ${keepMs / 1_000}) AS before)
    DELETE FROM book.inbox WHERE ctid = ANY (ARRAY(
      SELECT i.ctid FROM limits l CROSS JOIN book.inbox i
      WHERE i.created_at < l.before AND i.consumed_at < l.before AND i.quarantine IS NULL
        AND CASE i.phase
          WHEN 'seen' THEN EXISTS (
              SELECT FROM book.deposit d
              WHERE d.merchant_id = i.merchant_id AND d.network = i.network AND d.txid = i.txid
                AND d.log_index = i.log_index AND d.status = 'CONFIRMED')
          WHEN 'vanished' THEN EXISTS (
              SELECT FROM book.deposit d
              WHERE d.merchant_id = i.merchant_id AND d.network = i.network AND d.txid = i.txid
                AND d.log_index = i.log_index AND d.status <> 'PENDING')
          WHEN 'submitted' THEN EXISTS (
              SELECT FROM book.attempt a
              WHERE a.txid = i.txid AND a.network = i.network AND a.outcome IS NOT NULL)
          WHEN 'outcome' THEN EXISTS (
              SELECT FROM book.attempt a
              WHERE a.txid = i.txid AND a.network = i.network AND a.outcome IN ('paid', 'failed'))
          ELSE false END
      LIMIT ${AT_A_TIME} FOR UPDATE OF i SKIP LOCKED))`;
  return count;
}
