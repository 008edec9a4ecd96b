/**
 * Rows of the inbox that their merchants cannot take in: they are quarantined together, and given back a
 * portion at a time once what they wait for has come.
 *
 * @module
 */

import type { Sql } from "postgres";
import { INBOX_KEY, type InboxKey } from "../rows.ts";
import { shape } from "../shape.ts";
import { text } from "../table.ts";

/** Rows that one statement gives back or looks at: all of them at once may take longer than a statement may. */
const AT_A_TIME = 1_000;
/** Portions of one call; the next call goes on. */
const PORTIONS = 20;
/** Length that a reason is cut to. */
const REASON_LENGTH = 500;

const keyShape = shape(INBOX_KEY);
const namedShape = shape({ ...INBOX_KEY, reason: text() });

/** A row to be quarantined, and the reason, which begins with its kind. */
export interface Quarantining {
  readonly key: InboxKey;
  readonly reason: string;
}

/**
 * Quarantines rows that their merchants cannot take in, so that they do not stop the others: all of them
 * in one commit, as one block may bring a thousand. A transfer that is `unclaimed` because its pair is
 * disabled stays in the queue when the pair has just been enabled: the pair's row is locked, so that this
 * and the enabling (updatePair) follow each other. A row that another transaction holds is passed over.
 *
 * @throws also when another transaction holds the pair for more than a moment
 */
export async function quarantineInboxRows(sql: Sql, rows: readonly Quarantining[]): Promise<void> {
  if (rows.length === 0) return;
  const named = rows.map(({ key: { merchantId, network, txid, logIndex, phase }, reason }) => ({
    ...{ merchantId, network, txid, logIndex, phase },
    reason: reason.slice(0, REASON_LENGTH),
  }));
  const unclaimed = named.filter(({ reason }) => reason.startsWith("unclaimed:"));
  const networks = [...new Set(unclaimed.map(({ network }) => network))];
  await sql.begin(async (tx) => {
    await tx`SET LOCAL lock_timeout = '50ms'`;
    await tx`
      WITH pair AS MATERIALIZED (
        SELECT network, currency, deposits_enabled FROM book.pair
        WHERE network = ANY (${networks}::text[]) FOR SHARE
      ), held AS (
        SELECT i.ctid, n.reason FROM ${namedShape.rows(tx, "n", named)}
        CROSS JOIN LATERAL (
          SELECT i.ctid FROM book.inbox i
          WHERE i.merchant_id = n.merchant_id AND i.network = n.network AND i.txid = n.txid
            AND i.log_index = n.log_index AND i.phase = n.phase AND i.consumed_at IS NULL
            AND NOT (n.reason LIKE 'unclaimed:%' AND EXISTS (
              SELECT FROM pair p
              WHERE p.network = i.network AND p.currency = i.data ->> 'currency' AND p.deposits_enabled))
          FOR NO KEY UPDATE SKIP LOCKED) i
      )
      UPDATE book.inbox i SET quarantine = h.reason FROM held h WHERE i.ctid = h.ctid`;
  });
}

/**
 * Gives transfers back to their merchants that waited for the decision on a deposit which claims
 * their transaction, once no such deposit is undecided. A row that another transaction holds is
 * passed over, so that it keeps no other from its merchant. At most 20,000 of them are looked at: it is
 * called again every few seconds.
 *
 * @param after the row behind which it goes on; what the last call returned, null at first
 * @returns the last row that was looked at; null where none is behind it
 */
export async function releaseClaimed(sql: Sql, after: InboxKey | null): Promise<InboxKey | null> {
  let last = after;
  for (let portion = 0; portion < PORTIONS; portion++) {
    last = await releaseSomeClaimed(sql, last);
    if (last === null) return null;
  }
  return last;
}

async function releaseSomeClaimed(sql: Sql, after: InboxKey | null): Promise<InboxKey | null> {
  const rows = await sql`
    WITH looked AS MATERIALIZED (
      SELECT i.ctid, i.merchant_id, i.network, i.txid, i.log_index, i.phase FROM book.inbox i
      WHERE i.consumed_at IS NULL AND split_part(i.quarantine, ':', 1) = 'claimed'
        AND (i.merchant_id, i.network, i.txid, i.log_index, i.phase) > (
          ${after?.merchantId ?? ""}::text, ${after?.network ?? ""}::text, ${
    after?.txid ?? ""
  }::text, ${after?.logIndex ?? 0}::integer, ${after?.phase ?? ""}::text)
      ORDER BY i.merchant_id, i.network, i.txid, i.log_index, i.phase LIMIT ${AT_A_TIME}
    ), released AS (
      UPDATE book.inbox SET quarantine = NULL WHERE ctid = ANY (ARRAY(
        SELECT i.ctid FROM book.inbox i
        WHERE i.ctid = ANY (ARRAY(SELECT l.ctid FROM looked l))
          AND i.consumed_at IS NULL AND i.quarantine LIKE 'claimed:%' AND NOT EXISTS (
            SELECT FROM (
              -- in one place of its index: the merchant may have thousands of deposits that are pending
              SELECT x.status FROM book.deposit x
              WHERE x.merchant_id = i.merchant_id AND x.network = i.network AND x.txid = i.txid
                AND x.log_index >= -1 AND x.log_index <= -1
              ORDER BY x.log_index LIMIT 1) d
            WHERE d.status = 'PENDING')
        FOR UPDATE OF i SKIP LOCKED))
    )
    SELECT * FROM (SELECT l.*, count(*) OVER () = ${AT_A_TIME} AS is_full FROM looked l) l
    WHERE l.is_full
    ORDER BY l.merchant_id DESC, l.network DESC, l.txid DESC, l.log_index DESC, l.phase DESC LIMIT 1`;
  return keyShape.first(rows);
}

/**
 * Gives transfers back to their merchants that waited for their pair, once it is enabled: enabling it
 * gives back the first portion itself. At most 20,000 of them, as of {@linkcode releaseClaimed}.
 */
export async function releaseUnclaimed(sql: Sql): Promise<void> {
  for (let portion = 0; portion < PORTIONS; portion++) {
    const { count } = await sql`
      UPDATE book.inbox SET quarantine = NULL WHERE ctid = ANY (ARRAY(
        SELECT i.ctid FROM book.pair p CROSS JOIN LATERAL (
          SELECT x.ctid FROM book.inbox x
          WHERE x.consumed_at IS NULL AND x.quarantine IS NOT NULL AND split_part(x.quarantine, ':', 1) = 'unclaimed'
            -- in the collation of the index
            AND x.network = p.network AND x.data ->> 'currency' = p.currency COLLATE "default"
          ORDER BY x.created_at LIMIT ${AT_A_TIME} FOR UPDATE SKIP LOCKED) i
        WHERE p.deposits_enabled LIMIT ${AT_A_TIME}))`;
    if (count < AT_A_TIME) return;
  }
}

/**
 * Gives every row back that was quarantined as broken: what broke it may have been repaired, for
 * example by the release that starts now. One that is still broken is quarantined again, and one that
 * another transaction holds stays so. What was given back before a failure stays given back.
 *
 * @returns how many there were
 */
export async function releaseBroken(sql: Sql): Promise<number> {
  // by their place, which changes with each update: none is tried twice that is quarantined again meanwhile
  const places = (await sql<{ ctid: string }[]>`
    SELECT ctid::text FROM book.inbox
    WHERE consumed_at IS NULL AND quarantine IS NOT NULL
      AND split_part(quarantine, ':', 1) IN ('bug', 'unreadable')`).map(({ ctid }) => ctid);
  let released = 0;
  for (let from = 0; from < places.length; from += AT_A_TIME) {
    const { count } = await sql`
      UPDATE book.inbox SET quarantine = NULL WHERE ctid = ANY (ARRAY(
        SELECT i.ctid FROM book.inbox i
        WHERE i.ctid = ANY (${places.slice(from, from + AT_A_TIME)}::text[]::tid[])
          AND i.consumed_at IS NULL AND (i.quarantine LIKE 'bug:%' OR i.quarantine LIKE 'unreadable:%')
        FOR UPDATE SKIP LOCKED))`;
    released += count;
  }
  return released;
}
