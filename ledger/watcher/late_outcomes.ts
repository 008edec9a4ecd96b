/**
 * Ends of own transactions that the scan has met in a solid block and could not write, as another
 * transaction held their rows, or as a second node has to show them too: their blocks are read again.
 *
 * @module
 */

import type { Sql } from "postgres";
import { type Amount, formatAmount } from "../money/amount.ts";
import type { Network } from "../money/pair.ts";
import { shape } from "../shape.ts";
import { bigint, integer, type RowOf, text } from "../table.ts";
import { LONGEST_PAUSE_MS } from "./unreadable_blocks.ts";

const lateShape = shape({
  outgoingId: text(),
  number: integer(),
  merchantId: text(),
  height: bigint(),
});
/** The attempt that ended, and the solid block that shows it. */
export type LateOutcome = RowOf<typeof lateShape>;

/** A second node's word that a transaction has moved nothing, in a solid block of its own. */
export interface EndTestimony {
  /** Its host. */
  readonly node: string;
  readonly height: number;
  /** The block's hash. */
  readonly hash: string;
  /** Time of the question, Unix milliseconds. */
  readonly askedAt: number;
}

/** Time for which a block is left alone whose reading again was in vain, seconds. */
const PAUSE_S = 10;

/**
 * Lists ends that were not written, before the cursor passes their block, each with every block that was read to show
 * it: a node's word of one hides no other. What has ended since, by another node that read the same block, is left out.
 *
 * @returns the transfers that are listed for these blocks now and were not before
 */
export async function listLateOutcomes(
  sql: Sql,
  network: Network,
  outcomes: readonly LateOutcome[],
): Promise<ReadonlySet<string>> {
  if (outcomes.length === 0) return new Set();
  const rows = await sql<{ id: string; is_new: boolean }[]>`
    INSERT INTO book.late_outcome AS l (outgoing_id, number, merchant_id, network, height)
    SELECT DISTINCT a.outgoing_id, a.number, a.merchant_id, ${network}, f.height
    FROM ${lateShape.rows(sql, "f", outcomes)}
    JOIN book.attempt a ON a.outgoing_id = f.outgoing_id AND a.number = f.number
      AND a.merchant_id = f.merchant_id AND a.outcome IS NULL
    ON CONFLICT (outgoing_id, number, merchant_id, height) DO UPDATE SET is_missing = false WHERE l.is_missing
    RETURNING outgoing_id AS id, xmax = 0 AS is_new`;
  return new Set(rows.flatMap(({ id, is_new: isNew }) => isNew ? id : []));
}

/**
 * Takes blocks with such ends to be read again, but for those whose rows are held still. A block that
 * was read in vain is left alone for ten seconds; those that were never tried come first.
 *
 * @returns heights, lowest first
 */
export async function takeLateOutcomes(
  sql: Sql,
  network: Network,
  limit: number,
): Promise<readonly number[]> {
  const rows = await sql<{ height: string }[]>`
    WITH due AS MATERIALIZED (
      SELECT l.outgoing_id, l.number, l.merchant_id, l.height FROM book.late_outcome l
      JOIN book.attempt a ON a.outgoing_id = l.outgoing_id AND a.number = l.number
        AND a.merchant_id = l.merchant_id AND a.outcome IS NULL
      JOIN book.outgoing o ON o.id = l.outgoing_id AND o.merchant_id = l.merchant_id
      -- a block that no node gives has a pause of its own
      LEFT JOIN hub.unreadable_block u ON u.network = l.network AND u.view = 'again' AND u.height = l.height
      -- a time that is still to come was written by a wrong clock
      WHERE l.network = ${network} AND (l.tried_at IS NULL OR l.tried_at > now()
        OR l.tried_at < now() - make_interval(secs => ${PAUSE_S}))
        AND (u.height IS NULL OR u.next_try_at <= now()
          OR u.next_try_at > now() + make_interval(secs => ${LONGEST_PAUSE_MS}::float8 / 1000))
      ORDER BY l.tried_at NULLS FIRST, l.height LIMIT ${limit}
      FOR NO KEY UPDATE OF o, a SKIP LOCKED
    ), taken AS (
      UPDATE book.late_outcome l SET tried_at = now(), is_missing = true FROM due d
      WHERE l.outgoing_id = d.outgoing_id AND l.number = d.number AND l.merchant_id = d.merchant_id
        AND l.height = d.height
      RETURNING l.height
    )
    SELECT DISTINCT height FROM taken ORDER BY height`;
  return rows.map(({ height }) => Number(height));
}

/** Blocks that ends of transfers are listed for. @returns each height once, lowest first, by outgoing id */
export async function readListedHeights(
  sql: Sql,
  outgoingIds: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const rows = await sql<{ id: string; heights: string[] }[]>`
    SELECT outgoing_id AS id, array_agg(DISTINCT height ORDER BY height) AS heights FROM book.late_outcome
    WHERE outgoing_id = ANY (${[...outgoingIds]}::text[]) GROUP BY outgoing_id`;
  return new Map(rows.map(({ id, heights }) => [id, heights.map(Number)]));
}

/** Takes ends off the list that are written by now. @returns their transfers */
export async function closeLateOutcomes(
  sql: Sql,
  network: Network,
): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    DELETE FROM book.late_outcome l USING book.attempt a
    WHERE l.network = ${network} AND a.outgoing_id = l.outgoing_id AND a.number = l.number
      AND a.merchant_id = l.merchant_id AND a.outcome IS NOT NULL
    RETURNING l.outgoing_id AS id`;
  return rows.map(({ id }) => id);
}

const shownShape = shape({
  txid: text(),
  /** `cancel`: it was to move nothing, whatever became of it. */
  purpose: text<"pay" | "cancel">(),
  height: bigint(),
});
/** An end that is listed for a block. */
export type ListedEnd = RowOf<typeof shownShape>;

/**
 * Ends on the list whose blocks were read again without their transactions, each transaction once.
 *
 * @param heights of blocks that were read since they were taken, see {@linkcode takeLateOutcomes}
 */
export async function readMissingEnds(
  sql: Sql,
  network: Network,
  heights: readonly number[],
): Promise<readonly ListedEnd[]> {
  if (heights.length === 0) return [];
  return shownShape.all(
    await sql`
    SELECT DISTINCT a.txid, a.purpose, l.height FROM book.late_outcome l
    JOIN book.attempt a ON a.outgoing_id = l.outgoing_id AND a.number = l.number AND a.merchant_id = l.merchant_id
      AND a.outcome IS NULL
    WHERE l.network = ${network} AND l.height = ANY (${[...heights]}::bigint[]) AND l.is_missing
    ORDER BY l.height, a.txid`,
  );
}

/**
 * Takes an end off the list that its block, read again, does not show, and that a second node does not have there either. What
 * else is listed of the transaction stays.
 *
 * @returns its transfers
 */
export async function dropMissingEnd(
  sql: Sql,
  network: Network,
  { txid, height }: ListedEnd,
): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    DELETE FROM book.late_outcome l USING book.attempt a
    WHERE a.txid = ${txid} AND a.network = ${network} AND l.network = a.network AND l.outgoing_id = a.outgoing_id
      AND l.number = a.number AND l.merchant_id = a.merchant_id AND l.height = ${height} AND l.is_missing
    RETURNING l.outgoing_id AS id`;
  return rows.map(({ id }) => id);
}

/** True where the end of one of our transactions up to a block is not written yet. */
export async function hasLateOutcome(
  sql: Sql,
  network: Network,
  height: number,
): Promise<boolean> {
  const [row] = await sql<{ late: boolean }[]>`
    SELECT EXISTS (
      SELECT FROM book.late_outcome l
      JOIN book.attempt a ON a.outgoing_id = l.outgoing_id AND a.number = l.number
        AND a.merchant_id = l.merchant_id AND a.outcome IS NULL
      WHERE l.network = ${network} AND l.height <= ${height}) AS late`;
  return row?.late === true;
}

const largeShape = shape({
  outgoingId: text(),
  txid: text(),
  purpose: text<"pay" | "cancel">(),
  height: bigint(),
});
/** A transaction of which the end is listed, and that moves more than one node's word is enough for. */
export type LargeEnd = RowOf<typeof largeShape>;

/**
 * Transactions that move more than an amount and whose end is listed, each once for a block, lowest block first. What moves the chain's
 * own coin is not among them.
 *
 * @param above in any token
 */
export async function readLargeEnds(
  sql: Sql,
  network: Network,
  above: Amount,
): Promise<readonly LargeEnd[]> {
  return largeShape.all(
    await sql`
    SELECT l.outgoing_id, a.txid, a.purpose, l.height
    FROM book.late_outcome l
    JOIN book.attempt a ON a.outgoing_id = l.outgoing_id AND a.number = l.number AND a.merchant_id = l.merchant_id
      AND a.outcome IS NULL AND a.place = 0
    JOIN book.outgoing o ON o.id = l.outgoing_id AND o.merchant_id = l.merchant_id
    WHERE l.network = ${network} AND o.currency <> 'native'
      AND CASE WHEN a.intents = 1 THEN o.amount ELSE book.sum_of_transaction(a.txid, a.network) END
        > ${formatAmount(above)}::text::numeric
    ORDER BY l.height, l.outgoing_id`,
  );
}
