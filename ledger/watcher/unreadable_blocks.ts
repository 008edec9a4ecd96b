import type { AnySql, Sql } from "../database/connect.ts";
import type { Network } from "../money/pair.ts";

/** A block that no node gives whole, and that is asked for again. */
export interface UnreadableBlock {
  readonly network: Network;
  /** `again`: the scan has passed it, and it has to be read once more. */
  readonly view: "head" | "solid" | "again";
  readonly height: number;
  /** Fault of the block, in the adapter's words. */
  readonly reason: string;
  readonly tries: number;
  /** When it could first not be read, Unix milliseconds. */
  readonly since: number;
  /** When it is asked for again by the database's clock, Unix milliseconds. */
  readonly nextTryAt: number;
  /** What was left until then when this was read, milliseconds; never more than {@linkcode LONGEST_PAUSE_MS}. */
  readonly waitMs: number;
}

/** The longest pause before a block is asked for again: a kept time further ahead is a wrong clock's. */
export const LONGEST_PAUSE_MS = 15_000;

/**
 * Notes that a block could not be read, once more; answers how often and since when.
 *
 * @param pauseMs how long it is left alone, by the database's clock
 */
export async function storeUnreadable(
  sql: Sql,
  block: Pick<UnreadableBlock, "network" | "view" | "height" | "reason">,
  pauseMs: number,
): Promise<UnreadableBlock> {
  const [row] = await sql<Columns[]>`
    INSERT INTO hub.unreadable_block AS u (network, view, height, reason, next_try_at)
    VALUES (${block.network}, ${block.view}, ${block.height}, ${block.reason},
      now() + make_interval(secs => ${pauseMs}::float8 / 1000))
    ON CONFLICT (network, view, height) DO UPDATE
    SET tries = u.tries + 1, reason = excluded.reason, next_try_at = excluded.next_try_at
    RETURNING *, now() AS read_at`;
  if (row === undefined) throw new Error(`Cannot note a block as unread: ${block.height}`);
  return blockOf(row);
}

/** Takes blocks off the list: read by now, or passed by the solid scan. */
export async function dropUnread(
  sql: Sql,
  network: Network,
  view: UnreadableBlock["view"],
  upTo: number,
): Promise<void> {
  await sql`
    DELETE FROM hub.unreadable_block
    WHERE network = ${network} AND view = ${view} AND height <= ${upTo}`;
}

/** Takes one block off the list. */
export async function dropOneUnread(
  sql: Sql,
  network: Network,
  view: UnreadableBlock["view"],
  height: number,
): Promise<void> {
  await sql`
    DELETE FROM hub.unreadable_block
    WHERE network = ${network} AND view = ${view} AND height = ${height}`;
}

/** The blocks of a network that wait to be read, lowest first. */
export async function listUnreadable(
  sql: AnySql,
  network: Network,
): Promise<readonly UnreadableBlock[]> {
  const rows = await sql<Columns[]>`
    SELECT *, now() AS read_at FROM hub.unreadable_block WHERE network = ${network} ORDER BY height, view LIMIT 1000`;
  return rows.map(blockOf);
}

interface Columns {
  readonly network: Network;
  readonly view: UnreadableBlock["view"];
  readonly height: string;
  readonly reason: string;
  readonly tries: number;
  readonly since: Date;
  readonly next_try_at: Date;
  readonly read_at: Date;
}

function blockOf(row: Columns): UnreadableBlock {
  const { network, view, reason, tries } = row;
  return {
    network,
    view,
    height: Number(row.height),
    reason,
    tries,
    since: row.since.getTime(),
    nextTryAt: row.next_try_at.getTime(),
    waitMs: waitOf(row.next_try_at.getTime() - row.read_at.getTime()),
  };
}

/** A wait that no pause explains is none: whoever wrote it down had a wrong clock. */
function waitOf(ms: number): number {
  return ms > LONGEST_PAUSE_MS ? 0 : Math.max(0, ms);
}

/** Takes blocks off the list of those that wait to be read once more: they were read. */
export async function dropReadAgain(
  sql: Sql,
  network: Network,
  from: number,
  to: number,
): Promise<void> {
  await sql`
    DELETE FROM hub.unreadable_block
    WHERE network = ${network} AND view = 'again' AND height BETWEEN ${from} AND ${to}`;
}

/**
 * Takes blocks off the list that nothing waits for any more: what was due in them is decided by now,
 * by another node or by an operator.
 */
export async function dropClosedAgain(sql: Sql, network: Network): Promise<void> {
  await sql`
    DELETE FROM hub.unreadable_block u
    WHERE u.network = ${network} AND u.view = 'again'
      AND NOT EXISTS (
        SELECT FROM hub.unknown_spend s JOIN book.attempt a ON a.txid = s.txid AND a.network = s.network
        WHERE s.network = u.network AND s.height = u.height AND s.status IN ('open', 'listed', 'cold')
          AND a.outcome IS DISTINCT FROM 'expired')
      AND NOT EXISTS (
        SELECT FROM book.late_outcome l WHERE l.network = u.network AND l.height = u.height)
      AND NOT EXISTS (
        SELECT FROM book.outgoing o
        JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome IS NULL
        WHERE o.network = u.network AND o.status = 'signed'
          AND coalesce(a.reread_height, a.since_height) < a.known_height
          AND coalesce(a.reread_height, a.since_height) + 1 = u.height)`;
}

/** Blocks of a network that cannot be read once more. */
export interface AgainTrouble {
  readonly network: Network;
  readonly blocks: number;
  /** The one that waits longest, and why. */
  readonly height: number;
  readonly reason: string;
  /** Milliseconds for which it has waited. */
  readonly ageMs: number;
}

/** Blocks that cannot be read once more, summed up per network. Few rows. */
export async function readAgainTroubles(sql: Sql): Promise<readonly AgainTrouble[]> {
  const rows = await sql<
    { network: Network; blocks: number; height: string; reason: string; age: number }[]
  >`
    SELECT DISTINCT ON (network) network, height, reason, count(*) OVER (PARTITION BY network)::int AS blocks,
      extract(epoch FROM now() - since)::float8 * 1000 AS age
    FROM hub.unreadable_block WHERE view = 'again' ORDER BY network, since, height`;
  return rows.map(({ age, height, ...row }) => ({ ...row, height: Number(height), ageMs: age }));
}
