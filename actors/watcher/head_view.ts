/**
 * The view of what may still change: blocks above the solid one, so that customers hear of their
 * payment within seconds. It only informs, so it may pass a block that cannot be read and come back
 * to it, and it begins again from the solid block where the head was rebuilt.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import { type Block, type BlockRef, ChainUnavailable } from "../../chains/chain.ts";
import { type Cursor, readCursor, storeHead } from "../../ledger/watcher/cursor.ts";
import { unmarkSeen } from "../../ledger/watcher/seen_transactions.ts";
import { crashPoint } from "../runtime/crash_point.ts";
import { continues } from "./covered_heights.ts";
import { recordBlocks } from "./record_blocks.ts";
import { blocksIn, type SeenBlock, type Watched } from "./scan_memory.ts";

/** Time whose solid blocks are left to read from which on the head is left alone. */
const FAR_BEHIND_MS = 60_000;
/** Time whose blocks are read in one turn; below them the view begins anew where it was away for long. */
const AT_ONCE_MS = 10 * 60_000;
/** The least that it is in blocks: where blocks are slow, so many may lie above the solid one. */
const LEAST_AT_ONCE = 200;
/** Tries after which a block is passed, to be read later. */
const PASS_AFTER = 3;
/** Passed blocks that are asked for again in one turn. */
const AGAIN_AT_ONCE = 5;
/** Time for which nodes may say that the chain is shorter than what was seen, before they are right. */
const SHORTER_MS = 60_000;

/** Goes on where the view was before its actor failed or the service ended. */
export async function goOnFromHead({ sql, chain: { network }, memory }: Watched): Promise<void> {
  await memory.unreadable.recall(sql, "head");
  // blocks above were read by a look that did not come to its end; it may have been another branch's
  memory.hasDoubt = true;
  if (memory.head !== null) return;
  memory.head = await readCursor(sql, network, "head");
  const above = memory.head ?? await readCursor(sql, network, "solid");
  if (above !== null) await unmarkSeen(sql, network, above.height);
}

/**
 * Has all of it seen again from the solid block up: what was seen may be another branch's. Marks stay until the blocks are
 * read that tell where it forked: without them all that is in a block would count as in none meanwhile.
 */
function beginAnew({ memory }: Watched): void {
  memory.hasDoubt = true;
  memory.isHeadRead = false;
  memory.headAboveSince = null;
  memory.head = null;
}

/**
 * Takes marks back that may be another branch's, once the blocks are read that are marked next: from the first of them on
 * that was not met before. Where all of them were, it is those above.
 */
async function endDoubt(
  { sql, chain: { network }, memory }: Watched,
  blocks: readonly Block[],
  newest: BlockRef,
): Promise<void> {
  if (!memory.hasDoubt) return;
  const fork = blocks.find((block) => !memory.kept.has(block));
  const isWhole = blocks.at(-1)?.height === newest.height;
  if (fork === undefined && !isWhole) return;
  await unmarkSeen(sql, network, fork === undefined ? newest.height : fork.height - 1);
  memory.hasDoubt = false;
}

/**
 * Reads the blocks above the solid one that were not seen yet.
 *
 * @param signal ends the look; what was read until then is kept
 * @throws {ChainUnavailable} when no node answers
 */
export async function viewHead(watched: Watched, signal: AbortSignal): Promise<void> {
  const { sql, chain, memory } = watched;
  const solid = await readCursor(sql, chain.network, "solid");
  // the scan decides where it all begins
  if (solid === null) return;
  const newest = await chain.head(signal);
  memory.recordHead(newest.height, solid.height);
  // nodes that are behind what was read as solid know nothing of the blocks above it
  if (newest.height < solid.height) return;
  await readNew(watched, solid, newest, signal);
  // at once: until it is seen anew, it is not known which of its blocks are left
  if (memory.head === null) await readNew(watched, solid, newest, signal);
  memory.isHeadRead = Math.max(memory.head?.height ?? 0, solid.height) >= newest.height;
  await takeFarMarksBack(watched, newest);
  await memory.unreadable.passed(sql, "head", solid.height);
  await readPassed(watched, signal);
}

/**
 * Takes marks back above the newest block now and then, whichever service made them: one whose node told of
 * blocks far ahead may be gone, and no other would ever see those blocks vanish. Nodes that have not grown since know
 * less than the other services, which would not mark again what they have read.
 */
async function takeFarMarksBack(
  { sql, chain: { network }, memory }: Watched,
  newest: BlockRef,
): Promise<void> {
  const now = memory.monotonic();
  const { at, height } = memory.farMarks;
  if (now - at < SHORTER_MS) return;
  memory.farMarks = { at: now, height: newest.height };
  if (height === null || newest.height <= height) return;
  await unmarkSeen(sql, network, Math.max(newest.height, memory.head?.height ?? 0));
}

/** Reads the blocks after the last one that was seen. */
async function readNew(
  watched: Watched,
  solid: Cursor,
  newest: BlockRef,
  signal: AbortSignal,
): Promise<void> {
  const from = placeOf(watched, solid, newest);
  if (from !== null) await readOn(watched, { from, newest }, signal);
}

/** The block after which to go on; null: nothing to read now. */
function placeOf(watched: Watched, solid: Cursor, newest: BlockRef): SeenBlock | null {
  const { chain, memory } = watched;
  const known = memory.head;
  const last: SeenBlock = known !== null && known.height > solid.height ? known : solid;
  // where the solid scan waits, this view is all that people see; otherwise the scan shows it all soon
  const waits = memory.stopped !== null ||
    memory.unreadable.all.some(({ view }) => view === "solid");
  if (!waits && memory.chainSolid - solid.height > blocksIn(FAR_BEHIND_MS, chain)) return null;
  // lower: a node that lags, or a head that is being rebuilt and will be seen when it has grown
  if (newest.height < last.height) {
    const now = memory.monotonic();
    memory.headAboveSince ??= now;
    // the node that showed what was seen was alone with it
    if (now - memory.headAboveSince > SHORTER_MS) beginAnew(watched);
    return null;
  }
  memory.headAboveSince = null;
  if (newest.height === last.height) {
    if (last === known && last.hash !== newest.hash) beginAnew(watched);
    return null;
  }
  const atOnce = Math.max(LEAST_AT_ONCE, blocksIn(AT_ONCE_MS, chain));
  if (newest.height - last.height <= atOnce) return last;
  return { height: newest.height - atOnce, hash: null };
}

/** Blocks that are to be seen: those after one, up to the newest. */
interface Unseen {
  readonly from: SeenBlock;
  readonly newest: BlockRef;
}

async function readOn(
  watched: Watched,
  { from, newest }: Unseen,
  signal: AbortSignal,
): Promise<void> {
  const { sql, chain, memory } = watched;
  const { network } = chain;
  if (memory.unreadable.leavesAlone("head", from.height + 1)) return;
  const blocks: Block[] = [];
  let next: SeenBlock | null = from;
  let failure: ChainUnavailable | null = null;
  try {
    for await (const answer of chain.blocks(from.height + 1, newest.height, "head", signal)) {
      if (answer.kind !== "block") {
        // a node that boasts of blocks it does not have moves nothing: the view stays where it was
        if (from.hash === null && from !== memory.head && blocks.length === 0) return;
        const tries = await memory.unreadable.retryLater(sql, "head", answer);
        if (tries >= PASS_AFTER) next = { height: answer.height, hash: null };
        break;
      }
      const { block } = answer;
      const { height, hash } = next;
      if (hash !== null && !continues(block, { height, hash })) {
        // what the head had is read again from the solid block up
        logEvent("chain.reorganised", { network, height: block.height });
        next = null;
        break;
      }
      blocks.push(block);
      next = block;
    }
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    if (blocks.length === 0) throw error;
    failure = error;
  }
  await endDoubt(watched, blocks, newest);
  await see(watched, blocks);
  crashPoint("watcher.after-seen");
  if (next === null) return beginAnew(watched);
  // not the block itself, which would keep the text it was read from
  memory.head = { height: next.height, hash: next.hash };
  const last = blocks.at(-1);
  if (next === last) await storeHead(sql, network, last);
  // a look that is over and has seen something has failed in nothing
  if (failure !== null && !signal.aborted) throw failure;
}

/** Asks again for blocks that the view has passed. */
async function readPassed(watched: Watched, signal: AbortSignal): Promise<void> {
  const { sql, chain, memory: { unreadable, head } } = watched;
  const passed = unreadable.all.filter(({ view, height }) =>
    view === "head" && height <= (head?.height ?? 0) && !unreadable.leavesAlone(view, height)
  );
  for (const { height } of passed.slice(0, AGAIN_AT_ONCE)) {
    const answer = await chain.block(height, "head", signal);
    if (answer.kind === "block") await see(watched, [answer.block]);
    else await unreadable.retryLater(sql, "head", answer);
  }
}

async function see(
  { sql, chain, memory, wakeMerchants }: Watched,
  blocks: readonly Block[],
): Promise<void> {
  if (blocks.length === 0) return;
  const merchants = await recordBlocks(sql, chain, blocks, "head");
  if (memory.kept.keep(blocks) > 0) {
    logEvent("chain.blocks_unbound", {
      network: chain.network,
      height: blocks.at(-1)?.height ?? 0,
    });
  }
  if (merchants.size > 0) wakeMerchants(merchants);
  for (const { height } of blocks) await memory.unreadable.wasRead(sql, "head", height);
}
