/**
 * The solid cursor as tests need it: written where the scan would have moved it.
 *
 * @module
 */

import type { Sql } from "../../ledger/database/connect.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { type Cursor, type ReadBlock, readCursor } from "../../ledger/watcher/cursor.ts";

/** The database's history as cursors name it. */
export async function historyOf(sql: Sql): Promise<string> {
  const [row] = await sql<{ name: string }[]>`SELECT name FROM hub.scan_basis`;
  if (row === undefined) throw new Error("Cannot read the history");
  return row.name;
}

/** Puts the solid cursor at a block, with nothing marked as read. Answers it as it is read. */
export async function placeCursor(sql: Sql, network: Network, at: ReadBlock): Promise<Cursor> {
  await sql`
    INSERT INTO hub.cursor (network, view, height, hash, time, previous_time, tick, previous_tick)
    VALUES (${network}, 'solid', ${at.height}, ${at.hash}, ${new Date(at.time)}, ${new Date(
    at.previousTime,
  )},
      ${at.tick}, ${at.previousTick})
    ON CONFLICT (network, view) DO UPDATE SET height = excluded.height, hash = excluded.hash,
      time = excluded.time, previous_time = excluded.previous_time,
      tick = excluded.tick, previous_tick = excluded.previous_tick`;
  const cursor = await readCursor(sql, network, "solid");
  if (cursor === null) throw new Error(`Cannot place the cursor: ${network}`);
  return cursor;
}
