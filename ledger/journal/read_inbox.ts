import type { Sql } from "postgres";
import type { InboxKey } from "../rows.ts";

/** A row of the inbox as it was written by the watcher. */
export interface InboxRow extends InboxKey {
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Reads chain events of the given merchants that are not consumed yet, oldest first.
 *
 * @param share the most rows of each; what is left over is read by a later batch
 */
export async function readInbox(
  sql: Sql,
  merchantIds: readonly string[],
  share: number,
): Promise<readonly InboxRow[]> {
  return await sql<InboxRow[]>`
    SELECT i.merchant_id AS "merchantId", i.network, i.txid, i.log_index AS "logIndex", i.phase, i.data
    FROM unnest(${[...merchantIds]}::text[]) AS m(merchant_id)
    CROSS JOIN LATERAL (
      SELECT * FROM book.inbox x
      WHERE x.merchant_id = m.merchant_id AND x.consumed_at IS NULL AND x.quarantine IS NULL
      ORDER BY x.created_at LIMIT ${share}::int) i`;
}

/** Merchants with unconsumed inbox rows: those whose wake-up was lost in a crash. */
export async function readInboxOwners(sql: Sql, limit: number): Promise<readonly string[]> {
  const rows = await sql<{ merchant_id: string }[]>`
    SELECT DISTINCT merchant_id FROM book.inbox
    WHERE consumed_at IS NULL AND quarantine IS NULL LIMIT ${limit}::int`;
  return rows.map((row) => row.merchant_id);
}

/**
 * Quarantines a row that its merchant cannot take in, so that it does not stop the others. A transfer
 * that is `unclaimed` because its pair is disabled stays in the queue when the pair has just been
 * enabled: the pair's row is locked, so that this and the enabling (updatePair) follow each other.
 *
 * @throws also when another transaction holds one of the two rows for more than a moment
 */
export async function quarantineInboxRow(sql: Sql, key: InboxKey, reason: string): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`SET LOCAL lock_timeout = '50ms'`;
    await tx`
    WITH pair AS MATERIALIZED (
      SELECT currency, deposits_enabled FROM book.pair
      WHERE network = ${key.network} AND ${reason.startsWith("unclaimed:")} FOR SHARE)
    UPDATE book.inbox i SET quarantine = ${reason.slice(0, 500)}
    WHERE i.merchant_id = ${key.merchantId} AND i.network = ${key.network} AND i.txid = ${key.txid}
      AND i.log_index = ${key.logIndex} AND i.phase = ${key.phase} AND i.consumed_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM pair p WHERE p.currency = i.data ->> 'currency' AND p.deposits_enabled)`;
  });
}

/** Rows that one statement gives back: all of them at once may take longer than a statement may. */
const AT_A_TIME = 1_000;
/** Portions of one call; the next call goes on. */
const PORTIONS = 20;

/**
 * Gives transfers back to their merchants that waited for the decision on a deposit which claims
 * their transaction, once no such deposit is undecided. A row that another transaction holds is
 * passed over, so that it keeps no other from its merchant. At most 20,000 of them: it is called
 * again every few seconds.
 */
export async function releaseClaimed(sql: Sql): Promise<void> {
  for (let portion = 0; portion < PORTIONS; portion++) {
    if (await releaseSomeClaimed(sql) < AT_A_TIME) return;
  }
}

async function releaseSomeClaimed(sql: Sql): Promise<number> {
  const { count } = await sql`
    WITH free AS (
      SELECT i.merchant_id, i.network, i.txid, i.log_index, i.phase FROM book.inbox i
      WHERE i.consumed_at IS NULL AND i.quarantine LIKE 'claimed:%' AND NOT EXISTS (
        SELECT FROM book.deposit d
        WHERE d.merchant_id = i.merchant_id AND d.network = i.network AND d.txid = i.txid
          AND d.log_index = -1 AND d.status = 'PENDING')
      LIMIT ${AT_A_TIME} FOR UPDATE OF i SKIP LOCKED)
    UPDATE book.inbox i SET quarantine = NULL FROM free f
    WHERE i.merchant_id = f.merchant_id AND i.network = f.network AND i.txid = f.txid
      AND i.log_index = f.log_index AND i.phase = f.phase AND i.consumed_at IS NULL`;
  return count;
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
      AND (quarantine LIKE 'bug:%' OR quarantine LIKE 'unreadable:%')`).map(({ ctid }) => ctid);
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
