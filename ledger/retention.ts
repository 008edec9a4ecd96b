import { logEvent } from "../log/log_event.ts";
import type { AnySql, Sql } from "./database/connect.ts";

/** Rows deleted by one statement. */
const AT_A_TIME = 1_000;

/**
 * Deletes old events that wait for nothing, with the log of their delivery. Afterwards they are in
 * no list and cannot be sent again.
 *
 * @param keepMs age from which on an event may go, milliseconds
 * @returns how many were deleted; {@linkcode AT_A_TIME} means that there may be more
 */
export async function pruneEvents(sql: Sql, keepMs: number): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    WITH old AS MATERIALIZED (
      SELECT o.id, o.merchant_id FROM book.outbox o
      WHERE o.created_at < now() - make_interval(secs => ${
    keepMs / 1_000
  }) AND o.status <> 'PENDING'
      LIMIT ${AT_A_TIME} FOR UPDATE SKIP LOCKED),
    attempts AS (
      DELETE FROM book.delivery_attempt a USING old
      WHERE a.event_id = old.id AND a.merchant_id = old.merchant_id),
    revivals AS (
      DELETE FROM book.event_revival r USING old
      WHERE r.event_id = old.id AND r.merchant_id = old.merchant_id),
    gone AS (
      DELETE FROM book.outbox o USING old
      WHERE o.id = old.id AND o.merchant_id = old.merchant_id RETURNING 1)
    SELECT count(*)::int AS n FROM gone`;
  return row?.n ?? 0;
}

/**
 * Deletes inbox rows that were consumed long ago and that nothing looks at any more: what was seen
 * and vanished, that a settlement was sent, how a payout ended. The key of a row says that it was
 * reported already, so only rows go that change nothing when they are reported again, because the deposit or the
 * attempt itself says that they were booked. Rows of final transfers stay: what has come in on each
 * address is counted from them. So do margins and sweeps, rows that were quarantined, and everything
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

type Statement = (sql: AnySql) => PromiseLike<{ readonly count: number }>;

/**
 * Times until which something is put off, each with more than the longest it is ever put off by. One
 * further ahead was written while a clock was wrong, or the database's own has gone back since.
 */
const PUT_OFF: readonly (readonly [name: string, takeBack: Statement])[] = [
  // the expiry of a transaction, a day at most
  ["timers", (sql) =>
    sql`
    UPDATE hub.timer SET due_at = now() WHERE due_at > now() + interval '25 hours'`],
  // the longest pause of an address that cannot be swept is a day
  ["addresses to sweep", (sql) =>
    sql`
    UPDATE book.sweep_address SET poll_at = now() WHERE poll_at > now() + interval '25 hours'`],
  // the pauses of transfers that cannot be signed grow to minutes
  ["queued transfers", (sql) =>
    sql`
    UPDATE book.outgoing SET lease_until = NULL
    WHERE status = 'queued' AND lease_until > now() + interval '1 hour'`],
  // a turn lasts half a minute
  ["signing turns", (sql) =>
    sql`
    UPDATE book.signing_turn SET until = now() WHERE until > now() + interval '10 minutes'`],
  // a hold waits for an hour's difference of clocks and a lifetime at most; it is noted anew
  ["holds of payouts", (sql) =>
    sql`
    UPDATE hub.failover_network SET until_time = NULL, until_tick = NULL, head_height = NULL
    WHERE compared_at IS NULL AND until_time > now() + interval '26 hours'`],
];

/**
 * Takes back what was put off further than anything ever is. Each kind by itself: one that cannot be
 * read stops no other.
 *
 * @returns how many there were
 * @throws what the last kind that failed threw, after all others were read
 */
export async function boundKeptTimes(sql: Sql): Promise<number> {
  let sum = 0;
  let failure: unknown = null;
  for (const [name, takeBack] of PUT_OFF) {
    try {
      const { count } = await takeBack(sql);
      if (count > 0) {
        logEvent("clock.times_bounded", {
          count,
          name,
        });
      }
      sum += count;
    } catch (error) {
      failure = error;
    }
  }
  if (failure !== null) throw failure;
  return sum;
}
