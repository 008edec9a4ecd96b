import type { Sql } from "postgres";
import type { Network } from "../pair.ts";

/** How far one view of a network was read. */
export interface Cursor {
  readonly height: number;
  readonly hash: string;
  /** Time of that block, Unix milliseconds. */
  readonly time: number;
  /** Time of the block before it. */
  readonly previousTime: number;
}

/** Reads a cursor; `null` before the network was first read. */
export async function readCursor(
  sql: Sql,
  network: Network,
  view: "head" | "solid",
): Promise<Cursor | null> {
  const [row] = await sql<{ height: string; hash: string; time: Date; previous_time: Date }[]>`
    SELECT height, hash, time, previous_time FROM hub.cursor WHERE network = ${network} AND view = ${view}`;
  if (row === undefined) return null;
  return {
    height: Number(row.height),
    hash: row.hash,
    time: row.time.getTime(),
    previousTime: row.previous_time.getTime(),
  };
}

/**
 * Moves a cursor, if it still is where the caller read it.
 *
 * @param from the height it must have, or `null` where there must be none yet
 * @returns whether it moved; `false`: another node was faster
 */
export async function moveCursor(
  sql: Sql,
  network: Network,
  view: "head" | "solid",
  from: number | null,
  to: Cursor,
): Promise<boolean> {
  const time = new Date(to.time);
  const previous = new Date(to.previousTime);
  const rows = from === null
    ? await sql`
      INSERT INTO hub.cursor (network, view, height, hash, time, previous_time)
      VALUES (${network}, ${view}, ${to.height}, ${to.hash}, ${time}, ${previous})
      ON CONFLICT DO NOTHING RETURNING 1`
    : await sql`
      UPDATE hub.cursor SET height = ${to.height}, hash = ${to.hash}, time = ${time}, previous_time = ${previous}
      WHERE network = ${network} AND view = ${view} AND height = ${from} RETURNING 1`;
  return rows.length > 0;
}
