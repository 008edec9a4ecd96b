import type { AnySql, Sql } from "../database/connect.ts";
import { isBelied } from "../failover/belied_ends.ts";
import type { Network } from "../money/pair.ts";
import { shape } from "../shape.ts";
import { bigint, integer, type RowOf, text, time } from "../table.ts";

const blockShape = shape({
  network: text<Network>(),
  /** `again`: the scan has passed it, and it has to be read once more. */
  view: text<"head" | "solid" | "again">(),
  height: bigint(),
  /** Fault of the block, in the adapter's words. */
  reason: text(),
  tries: integer(),
  /** Time at which it could first not be read, Unix milliseconds. */
  since: time(),
  /** Time of the next try by the database's clock, Unix milliseconds. */
  nextTryAt: time(),
  readAt: time(),
});
/** A block that no node gives whole, and that is asked for again. */
export interface UnreadableBlock extends Omit<RowOf<typeof blockShape>, "readAt"> {
  /** Time that was left until then when this was read, milliseconds; never more than {@linkcode LONGEST_PAUSE_MS}. */
  readonly waitMs: number;
}

/** The longest pause before a block is asked for again: a kept time further ahead is a wrong clock's. */
export const LONGEST_PAUSE_MS = 15_000;

/**
 * Stores that a block could not be read, once more.
 *
 * @param pauseMs how long it is left alone, by the database's clock
 * @returns the block with its tries and since when it waits
 */
export async function storeUnreadable(
  sql: Sql,
  block: Pick<UnreadableBlock, "network" | "view" | "height" | "reason">,
  pauseMs: number,
): Promise<UnreadableBlock> {
  const [row] = await sql`
    INSERT INTO hub.unreadable_block AS u (network, view, height, reason, next_try_at)
    VALUES (${block.network}, ${block.view}, ${block.height}, ${block.reason},
      now() + make_interval(secs => ${pauseMs}::float8 / 1000))
    ON CONFLICT (network, view, height) DO UPDATE
    SET tries = u.tries + 1, reason = excluded.reason, next_try_at = excluded.next_try_at
    RETURNING *, now() AS read_at`;
  if (row === undefined) throw new Error(`Cannot store a block as unreadable: ${block.height}`);
  return blockOf(row);
}

/** Takes blocks off the list: read by now, or passed by the solid scan. */
export async function dropUnreadable(
  sql: Sql,
  network: Network,
  view: UnreadableBlock["view"],
  { first = 0, last }: { readonly first?: number; readonly last: number },
): Promise<void> {
  await sql`
    DELETE FROM hub.unreadable_block
    WHERE network = ${network} AND view = ${view} AND height BETWEEN ${first} AND ${last}`;
}

/** The blocks of a network that wait to be read, lowest first. */
export async function listUnreadable(
  sql: AnySql,
  network: Network,
): Promise<readonly UnreadableBlock[]> {
  const rows = await sql`
    SELECT *, now() AS read_at FROM hub.unreadable_block WHERE network = ${network} ORDER BY height, view LIMIT 1000`;
  return rows.map(blockOf);
}

/** A wait that no pause explains is none: it was written by a wrong clock. */
function blockOf(row: Readonly<Record<string, unknown>>): UnreadableBlock {
  const { readAt, ...block } = blockShape.decode(row);
  const waitMs = block.nextTryAt - readAt;
  return { ...block, waitMs: waitMs > LONGEST_PAUSE_MS ? 0 : Math.max(0, waitMs) };
}

/**
 * Takes blocks off the list that nothing waits for any more: what was due in them is decided by now,
 * by another node or by an administrator.
 */
export async function dropClosedAgain(sql: Sql, network: Network): Promise<void> {
  await sql`
    DELETE FROM hub.unreadable_block u
    WHERE u.network = ${network} AND u.view = 'again'
      AND NOT EXISTS (
        SELECT FROM hub.unknown_spend s JOIN book.attempt a ON a.txid = s.txid AND a.network = s.network
        WHERE s.network = u.network AND s.height = u.height AND s.status IN ('open', 'listed', 'cold', 'unproven', 'not_ours')
          AND NOT ${isBelied(sql)})
      AND NOT EXISTS (
        SELECT FROM book.late_outcome l WHERE l.network = u.network AND l.height = u.height)
      AND NOT EXISTS (
        SELECT FROM book.outgoing o
        JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome IS NULL
        WHERE o.network = u.network AND o.status = 'signed'
          AND coalesce(a.reread_height, a.since_height) < a.known_height
          AND coalesce(a.reread_height, a.since_height) + 1 = u.height)`;
}

const troubleShape = shape({
  network: text<Network>(),
  blocks: integer(),
  /** The one that waits longest. */
  height: bigint(),
  reason: text(),
  /** Milliseconds for which it has waited. */
  ageMs: integer(),
});
/** Blocks of a network that cannot be read once more. */
export type AgainTrouble = RowOf<typeof troubleShape>;

/** Blocks that cannot be read once more, summed up per network. Few rows. */
export async function readAgainTroubles(sql: Sql): Promise<readonly AgainTrouble[]> {
  return troubleShape.all(
    await sql`
    SELECT DISTINCT ON (network) network, height, reason, count(*) OVER (PARTITION BY network) AS blocks,
      extract(epoch FROM now() - since)::float8 * 1000 AS age_ms
    FROM hub.unreadable_block WHERE view = 'again' ORDER BY network, since, height`,
  );
}
