import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";
import { LONGEST_PAUSE_MS } from "../watcher/unread_blocks.ts";

/** An expired attempt in blocks that were read before it was known here. */
export interface RereadDuty {
  readonly outgoingId: string;
  readonly number: number;
  /** The first block that has to be read again. */
  readonly from: number;
}

/**
 * Expired attempts whose absence is not proven yet, as blocks that may hold them were read before
 * this database knew them: the signer gave the bytes of a lost commit once more. Those whose blocks
 * begin lowest come first; one whose first block could not be read is left alone for its pause, and comes
 * last after it.
 *
 * @param previousTime of the solid cursor, Unix milliseconds
 */
export async function readRereads(
  sql: Sql,
  network: Network,
  previousTime: number,
  limit: number,
): Promise<readonly RereadDuty[]> {
  const rows = await sql<{ outgoing_id: string; number: number; from_height: string }[]>`
    SELECT a.outgoing_id, a.number, coalesce(a.reread_height, a.since_height) + 1 AS from_height
    FROM book.outgoing o
    JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome IS NULL
    LEFT JOIN hub.unread_block u ON u.network = o.network AND u.view = 'again'
      AND u.height = coalesce(a.reread_height, a.since_height) + 1
    WHERE o.network = ${network} AND o.status = 'signed' AND a.expires_at < ${new Date(
    previousTime,
  )} AND coalesce(a.reread_height, a.since_height) < a.known_height
      AND (u.height IS NULL OR u.next_try_at <= now()
        OR u.next_try_at > now() + make_interval(secs => ${LONGEST_PAUSE_MS}::float8 / 1000))
    ORDER BY u.next_try_at NULLS FIRST, 3, 1 LIMIT ${limit}`;
  return rows.map((row) => ({
    outgoingId: row.outgoing_id,
    number: row.number,
    from: Number(row.from_height),
  }));
}

/**
 * Notes that blocks were read again, all from the first one of each duty that begins up to `to`. In another history
 * than they were read in, what was written of them may be lost, and nothing is noted.
 *
 * @param duties as they were read before the blocks were
 * @param to the last block that was read
 * @param history of the cursor that was read before the duties were
 */
export async function noteReread(
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
