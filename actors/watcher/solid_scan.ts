/**
 * The scan that money rests on: solid blocks one after the other from the cursor on, however long
 * we were away. A block that cannot be read holds the cursor; one that does not continue the chain
 * stops it with an alarm.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { Sql } from "postgres";
import { type Block, type BlockRef, type Chain, ChainUnavailable } from "../../chains/chain.ts";
import { type Cursor, moveCursor, readCursor } from "../../ledger/watcher/cursor.ts";
import { crashPoint } from "../runtime/crash_point.ts";
import { recordBlocks } from "./record_blocks.ts";
import { forgetUnread, type NotWhole, retryLater } from "./retry_unread.ts";
import type { ScanMemory } from "./scan_memory.ts";

const log = getLogger(["engine", "watcher"]);

/** Blocks that are read and written together while catching up: the more, the nearer in the index are their receivers. */
const CHUNK = 40;
/** Blocks of one turn; then health is told and the mailbox is looked at again. */
const TURN = 500;

/** What the scan works with. */
export interface SolidScanDeps {
  readonly sql: Sql;
  readonly chain: Chain;
  readonly memory: ScanMemory;
  /** Says that merchants' inboxes have rows. */
  readonly wakeMerchants: (merchantIds: ReadonlySet<string>) => void;
  /** Says that the cursor moved. */
  readonly onSolid: () => void;
}

/** Where a turn ended. */
export interface SolidTurn {
  readonly cursor: Cursor;
  /** True where there is more to read at once. */
  readonly hasMore: boolean;
}

/** Reads up to {@linkcode TURN} solid blocks. @throws {ChainUnavailable} when no node answers */
export async function scanSolid(deps: SolidScanDeps): Promise<SolidTurn> {
  const { sql, chain, memory } = deps;
  const { network } = chain;
  const newest = await chain.solid();
  memory.reachedAt = memory.monotonic();
  memory.noteSolid(newest.height);
  const before = await readCursor(sql, network, "solid") ?? await begin(deps, newest);
  noteCursor(memory, before);
  // another service may have read all that there is, so that no block of ours would tell
  const isThere = newest.height === before.height && newest.hash === before.hash;
  if (isThere && memory.stopped !== null) resume(deps, before);
  if (memory.leavesAlone("solid", before.height + 1)) return { cursor: before, hasMore: false };
  const cursor = await readOn(deps, before, Math.min(newest.height, before.height + TURN));
  memory.progress.note(cursor.height, newest.height);
  const moved = cursor.height > before.height;
  return { cursor, hasMore: moved && cursor.height < newest.height };
}

/** First start: no address was handed out before this block. */
async function begin({ sql, chain }: SolidScanDeps, newest: BlockRef): Promise<Cursor> {
  const { network } = chain;
  const { height, hash, time } = newest;
  await moveCursor(sql, network, "solid", null, { height, hash, time, previousTime: time });
  const cursor = await readCursor(sql, network, "solid");
  if (cursor === null) throw new Error(`Cannot begin to watch as no cursor was kept: ${network}`);
  log.info("{network} is watched from block {height} on", { network, height: cursor.height });
  return cursor;
}

/** Reads and writes blocks up to a height; what was read before a failure is written first. */
async function readOn(deps: SolidScanDeps, from: Cursor, to: number): Promise<Cursor> {
  const { sql, chain, memory } = deps;
  let cursor = from;
  let chunk: Block[] = [];
  let unread: NotWhole | null = null;
  let stranger: Block | null = null;
  let failure: ChainUnavailable | null = null;
  try {
    const read = chain.blocks(cursor.height + 1, to, "solid", undefined, undefined, cursor);
    for await (const answer of read) {
      if (answer.kind !== "block") {
        unread = answer;
        break;
      }
      const parent = chunk.at(-1) ?? cursor;
      if (answer.block.parentHash !== parent.hash) {
        stranger = answer.block;
        break;
      }
      chunk.push(answer.block);
      if (chunk.length < CHUNK) continue;
      const next = await record(deps, cursor, chunk);
      if (next === null) return await movedByOther(deps, cursor, true);
      cursor = next;
      chunk = [];
    }
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    failure = error;
  }
  if (chunk.length > 0) {
    const next = await record(deps, cursor, chunk);
    if (next === null) return await movedByOther(deps, cursor, stranger === null);
    cursor = next;
  }
  if (stranger !== null) stop(deps, stranger, cursor);
  else if (cursor.height > from.height && memory.stopped !== null) resume(deps, cursor);
  if (failure?.category === "malformed") {
    // no node gives it in a form that can be read: this block is what the scan waits for
    unread = { kind: "incomplete", height: cursor.height + 1, reason: failure.message };
    failure = null;
  }
  if (unread !== null) await retryLater(sql, chain.network, "solid", unread, memory);
  if (failure !== null) throw failure;
  return cursor;
}

/** Writes what blocks say, then moves the cursor. @returns `null`: it is not where it was, or what was written is lost */
async function record(
  deps: SolidScanDeps,
  cursor: Cursor,
  blocks: readonly Block[],
): Promise<Cursor | null> {
  const { sql, chain, memory, wakeMerchants, onSolid } = deps;
  const { network } = chain;
  const told = await recordBlocks(sql, chain, blocks, "solid");
  crashPoint("watcher.after-inbox");
  const last = blocks[blocks.length - 1] as Block;
  const previousTime = blocks.at(-2)?.time ?? cursor.time;
  const next = { height: last.height, hash: last.hash, time: last.time, previousTime };
  if (!await moveCursor(sql, network, "solid", cursor, next, blocks.length)) return null;
  crashPoint("watcher.after-cursor");
  const moved = { ...next, history: cursor.history };
  noteCursor(memory, moved);
  memory.blocksRead += blocks.length;
  await forgetUnread(sql, network, "solid", next.height, memory);
  if (told.size > 0) wakeMerchants(told);
  onSolid();
  return moved;
}

/**
 * Another service reads the same network: what it has read need not be read here. Or the database
 * has another history: what it lacks is read once more.
 *
 * @param continues whether all blocks that were read here continue what was read before
 */
async function movedByOther(
  deps: SolidScanDeps,
  old: Cursor,
  continues: boolean,
): Promise<Cursor> {
  const { sql, chain, memory } = deps;
  const { network } = chain;
  log.debug("{network}: the cursor is at {height} no longer, or in another history", {
    network,
    height: old.height,
  });
  const cursor = await readCursor(sql, network, "solid");
  if (cursor === null) throw new Error(`Cannot read on as the cursor is gone: ${network}`);
  noteCursor(memory, cursor);
  await forgetUnread(sql, network, "solid", cursor.height, memory);
  if (continues && memory.stopped !== null) resume(deps, cursor);
  return cursor;
}

/** Solid blocks never change: a node lies or is of another chain, and nothing it says may count. */
function stop({ chain, memory }: SolidScanDeps, block: Block, cursor: Cursor): void {
  const { network } = chain;
  const reason = `solid block ${block.height} does not continue block ${cursor.height} ` +
    `that was read: its parent is ${block.parentHash}`;
  if (memory.stopped !== reason) {
    log.fatal("{network} is read no further: {reason}, not {hash}", {
      network,
      reason,
      hash: cursor.hash,
    });
  }
  memory.stopped = reason;
}

function resume({ chain, memory }: SolidScanDeps, cursor: Cursor): void {
  const { network } = chain;
  log.warn("{network} is read on, at block {height}", { network, height: cursor.height });
  memory.stopped = null;
}

function noteCursor(memory: ScanMemory, { height, time }: Cursor): void {
  memory.readSolid = height;
  memory.readSolidTime = time;
}
