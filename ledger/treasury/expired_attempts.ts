import type { Sql } from "postgres";
import { type Amount, formatAmount } from "../money/amount.ts";
import type { Network } from "../money/pair.ts";
import { shape } from "../shape.ts";
import { bigint, integer, type RowOf, text } from "../table.ts";
import { LONGEST_PAUSE_MS } from "../watcher/unreadable_blocks.ts";

const expiredShape = shape({
  outgoingId: text(),
  merchantId: text(),
  txid: text(),
  /** The last tick at which a block may hold it. */
  diesAfter: bigint(),
});
/** A transaction that our own scan has proven dead and that a second node has to agree on. */
export type ExpiredAttempt = RowOf<typeof expiredShape>;

/**
 * Signed transactions of more than an amount whose expiry our scan has passed, oldest first, each once: what several
 * transfers move with one counts together. What
 * moves the chain's own coin is not among them: it pays no merchant.
 *
 * @param previousTick of the solid cursor
 * @param above in any token
 */
export async function readExpiredAttempts(
  sql: Sql,
  network: Network,
  previousTick: number,
  above: Amount,
  limit: number,
): Promise<readonly ExpiredAttempt[]> {
  return expiredShape.all(
    await sql`
    SELECT a.outgoing_id, a.merchant_id, a.txid, a.dies_after
    FROM book.outgoing o
    JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome IS NULL
    WHERE o.network = ${network} AND o.status = 'signed' AND o.currency <> 'native'
      AND CASE WHEN a.intents = 1 THEN o.amount ELSE book.sum_of_transaction(a.txid, a.network) END
        > ${formatAmount(above)}::text::numeric
      AND a.place = 0 AND a.dies_after < ${previousTick}
    ORDER BY o.id LIMIT ${limit}`,
  );
}

/**
 * Transfers whose transaction expired and that were signed before the first block of an unbroken
 * scan: a block that was not read may hold them.
 *
 * @param previousTick of the solid cursor
 * @param scannedFrom the lowest block from which on all up to the cursor were read
 * @returns outgoing ids, oldest first
 */
export async function readUnscanned(
  sql: Sql,
  network: Network,
  previousTick: number,
  scannedFrom: number,
  limit: number,
): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT o.id FROM book.outgoing o
    JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome IS NULL
    WHERE o.network = ${network} AND o.status = 'signed' AND a.dies_after < ${previousTick} AND a.since_height + 1 < ${scannedFrom}
    ORDER BY o.id LIMIT ${limit}`;
  return rows.map((row) => row.id);
}

/**
 * Stores what signed transfers wait for although they have expired, so that the operator sees it.
 *
 * @param reasons by outgoing id
 * @returns the transfers whose reason is a new one
 */
export async function recordExpiryDoubts(
  sql: Sql,
  reasons: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  if (reasons.size === 0) return [];
  const rows = await sql<{ id: string }[]>`
    WITH locked AS (
      SELECT o.id, n.reason FROM book.outgoing o
      JOIN unnest(${[...reasons.keys()]}::text[], ${[...reasons.values()]}::text[]) AS n(id, reason)
        ON n.id = o.id
      WHERE o.status = 'signed' AND o.reason IS DISTINCT FROM n.reason
      -- what another session holds gets it at a later poll
      ORDER BY o.id FOR NO KEY UPDATE OF o SKIP LOCKED
    )
    UPDATE book.outgoing o SET reason = l.reason, updated_at = now()
    FROM locked l WHERE o.id = l.id AND o.status = 'signed' RETURNING o.id`;
  return rows.map((row) => row.id);
}

const rereadShape = shape({
  outgoingId: text(),
  number: integer(),
  /** The first block that has to be read again. */
  from: bigint(),
});
/** An expired attempt in blocks that were read before it was known here. */
export type RereadDuty = RowOf<typeof rereadShape>;

/**
 * Expired attempts whose absence is not proven yet, as blocks that may hold them were read before
 * this database knew them: the signer gave the bytes of a lost commit once more. Those whose blocks
 * begin lowest come first; one whose first block could not be read is left alone for its pause, and comes
 * last after it.
 *
 * @param previousTick of the solid cursor
 */
export async function readRereads(
  sql: Sql,
  network: Network,
  previousTick: number,
  limit: number,
): Promise<readonly RereadDuty[]> {
  return rereadShape.all(
    await sql`
    SELECT a.outgoing_id, a.number, coalesce(a.reread_height, a.since_height) + 1 AS "from"
    FROM book.outgoing o
    JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome IS NULL
    LEFT JOIN hub.unreadable_block u ON u.network = o.network AND u.view = 'again'
      AND u.height = coalesce(a.reread_height, a.since_height) + 1
    WHERE o.network = ${network} AND o.status = 'signed' AND a.dies_after < ${previousTick}
      AND coalesce(a.reread_height, a.since_height) < a.known_height
      AND (u.height IS NULL OR u.next_try_at <= now()
        OR u.next_try_at > now() + make_interval(secs => ${LONGEST_PAUSE_MS}::float8 / 1000))
    ORDER BY u.next_try_at NULLS FIRST, 3, 1 LIMIT ${limit}`,
  );
}

/**
 * Stores that blocks were read again, all from the first one of each duty that begins up to `to`. In another history
 * than they were read in, what was written of them may be lost, and nothing is stored.
 *
 * @param duties as they were read before the blocks were
 * @param to the last block that was read
 * @param history of the cursor that was read before the duties were
 */
export async function storeReread(
  sql: Sql,
  duties: readonly RereadDuty[],
  to: number,
  history: string,
): Promise<void> {
  const done = duties.filter(({ from }) => from <= to);
  await sql`
    UPDATE book.attempt a SET reread_height = ${to}
    FROM unnest(${done.map(({ outgoingId }) => outgoingId)}::text[],
      ${done.map(({ number }) => number)}::int[]) AS d(outgoing_id, number)
    WHERE a.outgoing_id = d.outgoing_id AND a.number = d.number AND a.outcome IS NULL
      AND coalesce(a.reread_height, 0) < ${to}
      AND (SELECT name FROM hub.scan_basis) = ${history}`;
}
