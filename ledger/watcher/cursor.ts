/**
 * The progress of a network's scan: its cursors, the ranges of solid blocks that were read without a
 * gap, and those that were read without a token contract of now.
 *
 * @module
 */

import type { AnySql, Sql } from "../database/connect.ts";
import type { Currency, Network } from "../money/pair.ts";
import { shape } from "../shape.ts";
import { bigint, type RowOf, text, time } from "../table.ts";

const cursorShape = shape({
  height: bigint(),
  hash: text(),
  /** Time of that block, Unix milliseconds. */
  time: time(),
  /** Time of the block before it. */
  previousTime: time(),
  /** Count in which its chain measures lifetimes, at that block. */
  tick: bigint(),
  /** The same at the block before it: what is past its last tick there can be in no later block. */
  previousTick: bigint(),
  /**
   * The database's history in which it was read, and how many of its address gaps were watched.
   * Findings that were written since count only there: a promotion may have lost them.
   */
  history: text(),
});
/** Progress of one view of a network. */
export type Cursor = RowOf<typeof cursorShape>;
/** A block that was read, with time and tick of the one before it. */
export type ReadBlock = Omit<Cursor, "history">;

/** Reads a cursor; `null` before the network was first read. */
export async function readCursor(
  sql: Sql,
  network: Network,
  view: "head" | "solid",
): Promise<Cursor | null> {
  return cursorShape.first(
    await sql`
    SELECT height, hash, time, previous_time, tick, previous_tick, (SELECT name FROM hub.scan_basis) AS history
    FROM hub.cursor WHERE network = ${network} AND view = ${view}`,
  );
}

/**
 * Moves the solid cursor, if it still is where the caller read it and in the same history of the
 * database, and marks the blocks in between as read, in one statement: the cursor is never ahead of
 * what {@linkcode readUnbrokenScan} can prove, nor of what was written of these blocks before a promotion.
 *
 * @param from the cursor as it was read before the blocks were, or `null` where there must be none yet
 * @param covered how many heights the blocks between the two cover, those included that the chain
 *   passed by; it must be all of them
 * @param mostAheadMs by which the block may be ahead of the database's clock; absent: nothing bounds it
 * @returns true if it moved; false: another node was faster, or the database has another history,
 *   whose lost addresses have to be watched first
 * @throws {PostgresError} `check_violation` when blocks are missing
 * @throws {RangeError} for a block whose time has not come, or is none: all that waits for blocks of some time would
 *   be taken for over
 */
export async function moveCursor(
  sql: Sql,
  network: Network,
  view: "solid",
  from: Pick<Cursor, "height" | "hash" | "history"> | null,
  to: ReadBlock,
  covered = 0,
  mostAheadMs = Infinity,
): Promise<boolean> {
  requireTimes(network, to);
  const time = new Date(to.time);
  const previous = new Date(to.previousTime);
  /** Null where nothing bounds it. */
  const latest = Number.isFinite(mostAheadMs) ? mostAheadMs : null;
  const hasCome = sql`(${latest}::float8 IS NULL
    OR ${time}::timestamptz <= clock_timestamp() + ${latest}::float8 * interval '1 ms')`;
  const rows = from === null
    ? await sql`
      INSERT INTO hub.cursor (network, view, height, hash, time, previous_time, tick, previous_tick, began_height)
      SELECT ${network}, ${view}, ${to.height}, ${to.hash}, ${time}, ${previous}, ${to.tick}, ${to.previousTick},
        ${to.height}
      WHERE ${hasCome}
      ON CONFLICT DO NOTHING RETURNING 1`
    : await sql`
      WITH moved AS (
        UPDATE hub.cursor SET height = ${to.height}, hash = ${to.hash}, time = ${time}, previous_time = ${previous},
          tick = ${to.tick}, previous_tick = ${to.previousTick}
        WHERE network = ${network} AND view = ${view} AND height = ${from.height} AND hash = ${from.hash}
          AND (SELECT name FROM hub.scan_basis) = ${from.history} AND (SELECT hub.may_pass_blocks(${network}))
          AND ${hasCome}
        RETURNING network
      )
      SELECT hub.mark_scanned(network, ${from.height + 1}, ${to.height}, ${covered}) FROM moved`;
  if (rows.length > 0) return true;
  const [has] = await sql<{ come: boolean }[]>`SELECT ${hasCome} AS come`;
  if (has?.come === false) throw notCome(network, to);
  return false;
}

/** The last millisecond that a date can have. */
const LAST_TIME = 8_640_000_000_000_000;

/** @throws {RangeError} for what is no time */
function requireTimes(network: Network, to: ReadBlock): void {
  const times = [to.time, to.previousTime];
  if (!times.every((time) => time >= 0 && time <= LAST_TIME)) throw notCome(network, to);
}

function notCome(network: Network, { height, time }: ReadBlock): RangeError {
  return new RangeError(
    `Cannot move the cursor of ${network} as the time of block ${height} has not come: ${time}`,
  );
}

/** Stores the newest head block that was seen, from which the view goes on after a start. */
export async function storeHead(
  sql: Sql,
  network: Network,
  head: Pick<Cursor, "height" | "hash" | "time" | "tick">,
): Promise<void> {
  const time = new Date(head.time);
  await sql`
    INSERT INTO hub.cursor (network, view, height, hash, time, previous_time, tick, previous_tick)
    VALUES (${network}, 'head', ${head.height}, ${head.hash}, ${time}, ${time}, ${head.tick}, ${head.tick})
    ON CONFLICT (network, view) DO UPDATE SET height = excluded.height, hash = excluded.hash,
      time = excluded.time, previous_time = excluded.previous_time,
      tick = excluded.tick, previous_tick = excluded.previous_tick`;
}

const rangeShape = shape({ first: bigint(), last: bigint() });
/** Heights from `first` to `last`, both included. */
export type HeightRange = RowOf<typeof rangeShape>;

/**
 * Marks solid blocks as read that an operator had read again. What the scan itself reads is marked
 * as its cursor moves. Blocks far below the first one that was ever read are not: what lies between
 * need not be read, so that there would be a gap where nothing is missing.
 *
 * @param covered how many of its heights were really read, each block the child of the one before
 * @param history of the cursor that was read before the blocks were
 * @returns `false`: the database has another history, which may lack what was written of them
 * @throws {PostgresError} `check_violation` when some of the range were not
 */
export async function markScanned(
  sql: Sql,
  network: Network,
  range: HeightRange,
  covered: number,
  history: string,
): Promise<boolean> {
  const [row] = await sql<{ same: boolean }[]>`
    SELECT h.same, (
      SELECT hub.mark_scanned(${network}, ${range.first}, ${range.last}, ${covered})
      WHERE h.same AND EXISTS (
        SELECT FROM hub.scanned_range WHERE network = ${network} AND first_height <= ${
    range.last + 1
  })) AS marked
    FROM (SELECT name = ${history} AS same FROM hub.scan_basis) h`;
  return row?.same === true;
}

/** The ranges of solid blocks that were read without a gap, lowest first. One is as it should be. */
export async function readScannedRanges(
  sql: AnySql,
  network: Network,
): Promise<readonly HeightRange[]> {
  return rangeShape.all(
    await sql`
    SELECT first_height AS first, last_height AS last FROM hub.scanned_range
    WHERE network = ${network} ORDER BY first_height`,
  );
}

/** Range that our own scan has read without a gap. */
export interface UnbrokenScan {
  /** The lowest height from which on every solid block up to the cursor was read. */
  readonly from: number;
  /** True where blocks below were read as well, so that there is a gap between. */
  readonly hasGap: boolean;
}

/**
 * The range that absence on a chain is proven by: nothing is, before its first height.
 *
 * @param cursor height of the solid cursor, read before
 */
export async function readUnbrokenScan(
  sql: AnySql,
  network: Network,
  cursor: number,
): Promise<UnbrokenScan> {
  const ranges = await readScannedRanges(sql, network);
  const range = ranges.find(({ first, last }) => first <= cursor && cursor <= last);
  if (range === undefined) return { from: cursor + 1, hasGap: ranges.length > 0 };
  return { from: range.first, hasGap: range.first !== ranges[0]?.first };
}

const missedShape = shape({
  network: text<Network>(),
  currency: text<Currency>(),
  first: bigint(),
  last: bigint(),
});
/** Solid blocks that were read without a token contract that is configured now. */
export type MissedBlocks = RowOf<typeof missedShape>;

/** Stores which token contracts the scan of a network knows from now on. Doing it again changes nothing. */
export async function storeContracts(
  sql: Sql,
  network: Network,
  contracts: ReadonlyMap<Currency, string>,
): Promise<void> {
  await sql`
    SELECT hub.store_contracts(${network}, ${[...contracts.keys()]}::text[],
      ${[...contracts.values()]}::text[])`;
}

/**
 * Stores that blocks were read again with the contracts of now. What touches neither end of what was
 * missed leaves it: one range is all that is kept. In another history than they were read in, what
 * was written of them may be lost, and nothing is stored.
 */
export async function markReadWithContracts(
  sql: Sql,
  network: Network,
  { first, last }: HeightRange,
  history: string,
): Promise<void> {
  await sql`
    UPDATE hub.scanned_contract SET
      missed_from = CASE WHEN ${first}::bigint > missed_from THEN missed_from
        WHEN ${last}::bigint < missed_to THEN ${last}::bigint + 1 END,
      missed_to = CASE WHEN ${first}::bigint > missed_from THEN ${first}::bigint - 1
        WHEN ${last}::bigint < missed_to THEN missed_to END
    WHERE network = ${network} AND left_at IS NULL
      AND ((${first} <= missed_from AND ${last} >= missed_from)
        OR (${first} <= missed_to AND ${last} >= missed_to))
      AND (SELECT name FROM hub.scan_basis) = ${history}`;
}

/** Blocks that have to be read again, of contracts that are configured now. */
export async function readMissedBlocks(sql: AnySql): Promise<readonly MissedBlocks[]> {
  return missedShape.all(
    await sql`
    SELECT network, currency, missed_from AS first, missed_to AS last FROM hub.scanned_contract
    WHERE left_at IS NULL AND missed_from IS NOT NULL ORDER BY network, currency`,
  );
}
