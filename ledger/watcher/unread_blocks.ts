import type { AnySql, Sql } from "../database/connect.ts";
import type { Network } from "../pair.ts";

/** A block that no node gives whole, and that is asked for again. */
export interface UnreadBlock {
  readonly network: Network;
  readonly view: "head" | "solid";
  readonly height: number;
  /** What is wrong with it, as the adapter says. */
  readonly reason: string;
  readonly tries: number;
  /** When it could first not be read, Unix milliseconds. */
  readonly since: number;
  /** When it is asked for again, Unix milliseconds. */
  readonly nextTryAt: number;
}

/** Notes that a block could not be read, once more; answers how often and since when. */
export async function noteUnread(
  sql: Sql,
  block: Pick<UnreadBlock, "network" | "view" | "height" | "reason" | "nextTryAt">,
): Promise<UnreadBlock> {
  const [row] = await sql<Columns[]>`
    INSERT INTO hub.unread_block AS u (network, view, height, reason, next_try_at)
    VALUES (${block.network}, ${block.view}, ${block.height}, ${block.reason}, ${new Date(
    block.nextTryAt,
  )})
    ON CONFLICT (network, view, height) DO UPDATE
    SET tries = u.tries + 1, reason = excluded.reason, next_try_at = excluded.next_try_at
    RETURNING *`;
  if (row === undefined) throw new Error(`Cannot note a block as unread: ${block.height}`);
  return blockOf(row);
}

/** Takes blocks off the list: read by now, or passed by the solid scan. */
export async function dropUnread(
  sql: Sql,
  network: Network,
  view: UnreadBlock["view"],
  upTo: number,
): Promise<void> {
  await sql`
    DELETE FROM hub.unread_block
    WHERE network = ${network} AND view = ${view} AND height <= ${upTo}`;
}

/** Takes one block off the list. */
export async function dropOneUnread(
  sql: Sql,
  network: Network,
  view: UnreadBlock["view"],
  height: number,
): Promise<void> {
  await sql`
    DELETE FROM hub.unread_block
    WHERE network = ${network} AND view = ${view} AND height = ${height}`;
}

/** The blocks of a network that wait to be read, lowest first. */
export async function listUnread(sql: AnySql, network: Network): Promise<readonly UnreadBlock[]> {
  const rows = await sql<Columns[]>`
    SELECT * FROM hub.unread_block WHERE network = ${network} ORDER BY height, view LIMIT 1000`;
  return rows.map(blockOf);
}

interface Columns {
  readonly network: Network;
  readonly view: "head" | "solid";
  readonly height: string;
  readonly reason: string;
  readonly tries: number;
  readonly since: Date;
  readonly next_try_at: Date;
}

function blockOf(row: Columns): UnreadBlock {
  const { network, view, reason, tries } = row;
  return {
    network,
    view,
    height: Number(row.height),
    reason,
    tries,
    since: row.since.getTime(),
    nextTryAt: row.next_try_at.getTime(),
  };
}
