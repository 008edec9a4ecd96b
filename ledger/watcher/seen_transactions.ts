/**
 * The service's own transactions as newest blocks show them. It informs and ends nothing: what is seen
 * is not sent again while it may become final. A mark counts only above the solid cursor: a height
 * which the scan has passed without an outcome was taken back by the chain, whatever the mark says.
 *
 * @module
 */

import type { Sql } from "../database/connect.ts";
import type { Network } from "../money/pair.ts";

/** The transactions of a block that may still vanish. */
export interface ShownBlock {
  readonly height: number;
  readonly transactions: readonly { readonly txid: string }[];
}

/**
 * Marks own transactions that blocks show, in one statement for all of them. The ids are sent as one
 * text, and their number is hidden from the planner, as in `findOwnTransactions`. A row that another
 * transaction holds stays as it is: it may be sent once more, which changes nothing.
 */
export async function markSeen(
  sql: Sql,
  network: Network,
  blocks: readonly ShownBlock[],
): Promise<void> {
  const shown = blocks.flatMap(({ height, transactions }) =>
    transactions.map(({ txid }) => ({ txid, height }))
  );
  if (shown.length === 0) return;
  await sql`
    WITH given AS (
      SELECT string_to_array(${shown.map(({ txid }) => txid).join(",")}, ',') AS txids,
        string_to_array(${shown.map(({ height }) => height).join(",")}, ',')::bigint[] AS heights
    ), own AS MATERIALIZED (
      SELECT outgoing_id, number, merchant_id, txid, seen_height FROM book.attempt
      WHERE txid = ANY ((SELECT txids FROM given)::text[]) AND network = ${network} AND outcome IS NULL
    ), shown AS (
      SELECT txid, max(height) AS height FROM given, unnest(txids, heights) AS s(txid, height)
      WHERE EXISTS (SELECT FROM own) GROUP BY txid
    ), locked AS (
      SELECT a.outgoing_id, a.number, a.merchant_id, s.height
      FROM own JOIN shown s USING (txid)
      JOIN book.attempt a ON (a.outgoing_id, a.number, a.merchant_id) = (own.outgoing_id, own.number, own.merchant_id)
      WHERE own.seen_height IS DISTINCT FROM s.height AND a.outcome IS NULL
      ORDER BY a.outgoing_id, a.number FOR NO KEY UPDATE OF a SKIP LOCKED
    )
    UPDATE book.attempt a SET seen_height = l.height FROM locked l
    WHERE (a.outgoing_id, a.number, a.merchant_id) = (l.outgoing_id, l.number, l.merchant_id) AND a.outcome IS NULL`;
}

/**
 * Takes marks back above a height: the blocks there are another branch's by now, or will be read again
 * and mark anew what they still show.
 */
export async function unmarkSeen(sql: Sql, network: Network, above: number): Promise<void> {
  await sql`
    WITH seen AS MATERIALIZED (
      -- one part per index of what has no outcome: all that ever ended is not read
      SELECT outgoing_id, number, merchant_id FROM book.attempt
      WHERE network = ${network} AND outcome IS NULL AND nonce IS NULL AND seen_height > ${above}
      UNION ALL SELECT outgoing_id, number, merchant_id FROM book.attempt
      WHERE network = ${network} AND outcome IS NULL AND nonce IS NOT NULL AND seen_height > ${above}
    ), locked AS (
      SELECT a.outgoing_id, a.number, a.merchant_id FROM seen
      JOIN book.attempt a USING (outgoing_id, number, merchant_id)
      WHERE a.outcome IS NULL AND a.seen_height > ${above}
      ORDER BY a.outgoing_id, a.number FOR NO KEY UPDATE OF a SKIP LOCKED
    )
    UPDATE book.attempt a SET seen_height = NULL FROM locked l
    WHERE (a.outgoing_id, a.number, a.merchant_id) = (l.outgoing_id, l.number, l.merchant_id) AND a.outcome IS NULL`;
}
