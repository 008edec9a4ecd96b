import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";
import { shape } from "../shape.ts";
import { bigint, type RowOf, text, time } from "../table.ts";

const cursorShape = shape({
  height: bigint(),
  hash: text(),
  /** Time of that block, Unix milliseconds. */
  time: time(),
  /** Time of the block before it. */
  previousTime: time(),
  /**
   * The database's history in which it was read, and how many of its address gaps were watched.
   * Findings that were written since count only there: a promotion may have lost them.
   */
  history: text(),
});
/** Progress of one view of a network. */
export type Cursor = RowOf<typeof cursorShape>;
/** A block that was read, with the time of the one before it. */
export type ReadBlock = Omit<Cursor, "history">;

/** Reads a cursor; `null` before the network was first read. */
export async function readCursor(
  sql: Sql,
  network: Network,
  view: "head" | "solid",
): Promise<Cursor | null> {
  return cursorShape.first(
    await sql`
    SELECT height, hash, time, previous_time, (SELECT name FROM hub.scan_basis) AS history
    FROM hub.cursor WHERE network = ${network} AND view = ${view}`,
  );
}

/**
 * Moves the solid cursor, if it still is where the caller read it and in the same history of the
 * database, and marks the blocks in between as read, in one statement: the cursor is never ahead of
 * what {@linkcode findGaps} can prove, nor of what was written of these blocks before a promotion.
 *
 * @param from the cursor as it was read before the blocks were, or `null` where there must be none yet
 * @param blocks how many blocks were read between the two; it must be all of them
 * @returns true if it moved; false: another node was faster, or the database has another history,
 *   whose lost addresses have to be watched first
 * @throws {PostgresError} `check_violation` when blocks are missing
 */
export async function moveCursor(
  sql: Sql,
  network: Network,
  view: "solid",
  from: Pick<Cursor, "height" | "hash" | "history"> | null,
  to: ReadBlock,
  blocks = 0,
): Promise<boolean> {
  const time = new Date(to.time);
  const previous = new Date(to.previousTime);
  const rows = from === null
    ? await sql`
      INSERT INTO hub.cursor (network, view, height, hash, time, previous_time, began_height)
      VALUES (${network}, ${view}, ${to.height}, ${to.hash}, ${time}, ${previous}, ${to.height})
      ON CONFLICT DO NOTHING RETURNING 1`
    : await sql`
      WITH moved AS (
        UPDATE hub.cursor SET height = ${to.height}, hash = ${to.hash}, time = ${time}, previous_time = ${previous}
        WHERE network = ${network} AND view = ${view} AND height = ${from.height} AND hash = ${from.hash}
          AND (SELECT name FROM hub.scan_basis) = ${from.history} AND (SELECT hub.may_pass_blocks(${network}))
        RETURNING network
      )
      SELECT hub.mark_scanned(network, ${from.height + 1}, ${to.height}, ${blocks}) FROM moved`;
  return rows.length > 0;
}

/** Stores the newest head block that was seen, from which the view goes on after a start. */
export async function storeHead(
  sql: Sql,
  network: Network,
  head: Pick<Cursor, "height" | "hash" | "time">,
): Promise<void> {
  const time = new Date(head.time);
  await sql`
    INSERT INTO hub.cursor (network, view, height, hash, time, previous_time)
    VALUES (${network}, 'head', ${head.height}, ${head.hash}, ${time}, ${time})
    ON CONFLICT (network, view) DO UPDATE SET height = excluded.height, hash = excluded.hash,
      time = excluded.time, previous_time = excluded.previous_time`;
}
