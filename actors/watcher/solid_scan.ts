/**
 * The scan that money rests on: solid blocks one after the other from the cursor on, however long the
 * service was away. A block that cannot be read holds the cursor; one that does not continue the
 * chain stops it with an alarm.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import { type Block, type BlockRef, ChainUnavailable, WrongDecimals } from "../../chains/chain.ts";
import { type Cursor, moveCursor, readCursor } from "../../ledger/watcher/cursor.ts";
import { crashPoint } from "../runtime/crash_point.ts";
import { recordBlocks } from "./record_blocks.ts";
import { continues, heightsOf } from "./covered_heights.ts";
import type { Watched } from "./scan_memory.ts";
import type { NotWhole } from "./unreadable_blocks.ts";

/** Blocks that are read and written together while catching up: the more, the nearer in the index are their receivers. */
const AT_ONCE = 40;
/** Blocks of one turn; then health is reported and the mailbox is looked at again. */
const TURN = 500;

/** A chain that is scanned. */
interface Scan extends Watched {
  /** Called when it is known how far the chain is: what comes then may take minutes, and shows as lag meanwhile. */
  readonly onReached: () => void;
  /** Called when the cursor has moved. */
  readonly onSolid: () => void;
}

/**
 * Reads up to {@linkcode TURN} solid blocks.
 *
 * @param signal ends the turn; what was read until then is kept
 * @returns the cursor then, and whether there is more to read at once
 * @throws {ChainUnavailable} when no node answers, or the chain must not be used
 */
export async function scanSolid(
  scan: Scan,
  signal?: AbortSignal,
): Promise<{ readonly cursor: Cursor; readonly hasMore: boolean }> {
  const { sql, chain, memory } = scan;
  const newest = await newestSolid(scan, signal);
  memory.reachedAt = memory.monotonic();
  memory.recordChainSolid(newest);
  const before = await readCursor(sql, chain.network, "solid") ?? await begin(scan, newest);
  take(scan, before);
  scan.onReached();
  // another service may have read all that there is, so that no block read here would show it
  if (newest.height === before.height && newest.hash === before.hash) resume(scan, before);
  const kept = memory.kept.between(before, newest).slice(0, TURN);
  if (kept.length === 0 && memory.unreadable.leavesAlone("solid", before.height + 1)) {
    return { cursor: before, hasMore: false };
  }
  const to = Math.min(newest.height, before.height + TURN);
  const cursor = kept.length > 0
    ? await takeKept(scan, before, kept)
    : await readOn(scan, before, to, signal);
  memory.progress.record(cursor.height, newest.height);
  const moved = cursor.height > before.height;
  return { cursor, hasMore: moved && cursor.height < newest.height };
}

/** The chain's newest solid block; where the chain must not be used at all, the scan is stopped and says so. */
async function newestSolid({ chain, memory }: Scan, signal?: AbortSignal): Promise<BlockRef> {
  try {
    return await chain.solid(signal);
  } catch (error) {
    if (!(error instanceof WrongDecimals)) throw error;
    const { network } = chain;
    const reason = error.message;
    if (memory.stopped !== reason) logEvent("chain.refused", { network, reason });
    memory.stopped = reason;
    memory.reachedAt = memory.monotonic();
    throw error;
  }
}

/** First start: no address was handed out before this block. */
async function begin(
  { sql, chain: { network, capabilities: { mostAheadMs } } }: Scan,
  { height, hash, time, tick }: BlockRef,
): Promise<Cursor> {
  const first = { height, hash, time, previousTime: time, tick, previousTick: tick };
  await moveCursor(sql, network, "solid", null, first, 0, mostAheadMs);
  const cursor = await readCursor(sql, network, "solid");
  if (cursor === null) throw new Error(`Cannot begin to watch as no cursor was kept: ${network}`);
  logEvent("chain.watched", { network, height: cursor.height });
  return cursor;
}

/** Writes blocks that the head view has read and that are solid now: each continues the one before. */
async function takeKept(scan: Scan, from: Cursor, blocks: readonly Block[]): Promise<Cursor> {
  let cursor = from;
  for (let i = 0; i < blocks.length; i += AT_ONCE) {
    const next = await record(scan, cursor, blocks.slice(i, i + AT_ONCE));
    if (next === null) return await movedByOther(scan, cursor, true);
    cursor = next;
  }
  resume(scan, cursor);
  return cursor;
}

/** Reads and writes blocks up to a height; what was read before a failure is written first. */
async function readOn(
  scan: Scan,
  from: Cursor,
  to: number,
  signal: AbortSignal | undefined,
): Promise<Cursor> {
  const { sql, chain, memory } = scan;
  let cursor = from;
  let blocks: Block[] = [];
  let unreadable: NotWhole | null = null;
  let unlinked: Block | null = null;
  let failure: ChainUnavailable | null = null;
  try {
    const read = chain.blocks(cursor.height + 1, to, "solid", signal, undefined, cursor);
    for await (const answer of read) {
      if (answer.kind !== "block") {
        unreadable = answer;
        break;
      }
      const parent = blocks.at(-1) ?? cursor;
      if (!continues(answer.block, parent)) {
        unlinked = answer.block;
        break;
      }
      blocks.push(answer.block);
      if (blocks.length < AT_ONCE) continue;
      const next = await record(scan, cursor, blocks);
      if (next === null) return await movedByOther(scan, cursor, true);
      cursor = next;
      blocks = [];
    }
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    failure = error;
  }
  if (blocks.length > 0) {
    const next = await record(scan, cursor, blocks);
    if (next === null) return await movedByOther(scan, cursor, unlinked === null);
    cursor = next;
  }
  if (unlinked !== null) stop(scan, unlinked, cursor);
  else if (cursor.height > from.height) resume(scan, cursor);
  if (failure?.category === "malformed") {
    // no node gives it in a form that can be read: this block is what the scan waits for
    unreadable = { kind: "incomplete", height: cursor.height + 1, reason: failure.message };
    failure = null;
  }
  if (unreadable !== null) await memory.unreadable.retryLater(sql, "solid", unreadable);
  // a turn that is over and has moved the cursor has failed in nothing
  if (failure !== null && !(signal?.aborted === true && cursor.height > from.height)) throw failure;
  return cursor;
}

/** Writes what blocks say, then moves the cursor. @returns `null`: it is not where it was, or what was written is lost */
async function record(
  scan: Scan,
  cursor: Cursor,
  blocks: readonly Block[],
): Promise<Cursor | null> {
  const { sql, chain, memory, proofs = null, wakeMerchants, onSolid } = scan;
  const { network } = chain;
  const merchants = await recordBlocks(sql, chain, blocks, "solid", proofs);
  crashPoint("watcher.after-inbox");
  const { height, hash, time, tick } = blocks[blocks.length - 1] as Block;
  const { time: previousTime, tick: previousTick } = blocks.at(-2) ?? cursor;
  const next = { height, hash, time, previousTime, tick, previousTick };
  const { covered } = heightsOf(blocks);
  const { mostAheadMs } = chain.capabilities;
  if (!await moveCursor(sql, network, "solid", cursor, next, covered, mostAheadMs)) return null;
  crashPoint("watcher.after-cursor");
  const moved = { ...next, history: cursor.history };
  take(scan, moved);
  memory.blocksRead += blocks.length;
  memory.kept.passed(height);
  await memory.unreadable.passed(sql, "solid", height);
  if (merchants.size > 0) wakeMerchants(merchants);
  onSolid();
  return moved;
}

/**
 * Another service reads the same network: what it has read need not be read here. Or the database
 * has another history: what it lacks is read once more.
 *
 * @param continues whether all blocks that were read here continue what was read before
 */
async function movedByOther(scan: Scan, { height }: Cursor, continues: boolean): Promise<Cursor> {
  const { sql, chain: { network }, memory } = scan;
  logEvent("chain.cursor_moved", { network, height });
  const cursor = await readCursor(sql, network, "solid");
  if (cursor === null) throw new Error(`Cannot read on as the cursor is gone: ${network}`);
  take(scan, cursor);
  await memory.unreadable.passed(sql, "solid", cursor.height);
  if (continues) resume(scan, cursor);
  return cursor;
}

/** Solid blocks never change: a node lies or is of another chain, and nothing it says may count. */
function stop({ chain: { network }, memory }: Scan, block: Block, { height, hash }: Cursor): void {
  const reason = `solid block ${block.height} does not continue block ${height} ` +
    `that was read: its parent is block ${block.parentHeight}, ${block.parentHash}`;
  if (memory.stopped !== reason) {
    logEvent("chain.stopped", { network, reason, hash });
  }
  memory.stopped = reason;
}

function resume({ chain: { network }, memory }: Scan, { height }: Cursor): void {
  if (memory.stopped === null) return;
  logEvent("chain.continued", { network, height });
  memory.stopped = null;
}

function take({ memory }: Scan, { height, time }: Cursor): void {
  memory.recordRead(height, time);
}
