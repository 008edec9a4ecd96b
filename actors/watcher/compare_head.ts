/**
 * The comparison of a network's newest blocks with the books, once at each start and after the database was set back, before
 * anything is signed. A machine or volume that was set back to a copy has queued what was paid since. What of that is
 * in solid blocks the scan meets; blocks above them are compared here: on chains that count nonces the hot wallet's next one with
 * what the books have promised, elsewhere each transfer that leaves an own wallet with what was signed. What the books do not know has signing wait
 * until the scan has read it, which stops signing. A start that lost nothing waits for one look at some twenty blocks.
 *
 * All nodes are asked at once and the furthest one counts, as one that is behind lacks what was paid last. Where the furthest is
 * behind the clock in a minute of tries, signing waits for the blocks that it lacks, also where nodes fall silent then, and again
 * while nodes catch up. Nodes that
 * hide blocks, or show none for a minute, let signing go on with what solid blocks tell.
 * Not seen are transactions that are in no block yet, and nonces of deposit addresses, whose transfers stay with the service:
 * after a restore operators keep the signer paused until those are in blocks or have expired (docs/operations.md).
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import {
  type BlockRef,
  ChainUnavailable,
  type Checkpoint,
  type FurthestBlock,
} from "../../chains/chain.ts";
import { readFirstNonce } from "../../ledger/lanes/first_nonce.ts";
import { readNextNonce } from "../../ledger/lanes/open_nonces.ts";
import { readSignedBatches } from "../../ledger/treasury/signed_batches.ts";
import { type Cursor, readCursor } from "../../ledger/watcher/cursor.ts";
import { findUnsigned } from "../../ledger/watcher/unsigned_transactions.ts";
import { continues } from "./covered_heights.ts";
import type { HeadComparison } from "./head_comparison.ts";
import { spendsOf } from "./record_blocks.ts";
import { blocksIn, type Watched } from "./scan_memory.ts";

/**
 * Time that one try has for each of its questions, milliseconds: which block is the newest, where a silent node beside one that
 * answers costs four seconds at most, and what is in the blocks. What it has read of these is kept for the next one.
 */
const TRY_MS = 5_000;
/**
 * No more blocks are waited for at once than of this time, milliseconds: where the clock is wrong it says nothing of newest blocks. Of
 * nodes that catch up all are, as newest blocks are compared again then.
 */
const MOST_BEHIND_MS = 10 * 60_000;
/** Time whose blocks are read above those that show what the books lack, milliseconds. */
const MARGIN_MS = 30_000;

/**
 * Compares, where the scan has read what it had to; what nodes do not answer is tried again by the next look, for a minute.
 *
 * @param signal ends the try
 */
export async function compareHead(watched: Watched, signal: AbortSignal): Promise<void> {
  const { sql, chain, memory } = watched;
  const { network } = chain;
  const { comparison, signedBatches } = memory;
  memory.recordSigned(await readSignedBatches(sql, network), signedBatches);
  // where the database is set back meanwhile, what was compared says nothing of its books
  const { begun } = comparison;
  if (comparison.state === "over") return;
  const solid = await readCursor(sql, network, "solid");
  if (solid === null || !memory.isScanReached) return;
  try {
    const newest = await within(signal, (short) => chain.furthest(short));
    if (comparison.begun !== begun) return;
    if (newest.behindMs > 0) comparison.recordBehind(newest);
    await within(signal, (short) => compare(watched, solid, newest, short));
    if (comparison.begun !== begun) return;
    end(watched, null);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    if (comparison.begun !== begun) return;
    const { state } = comparison;
    const isLast = comparison.fail();
    if (comparison.state !== state) {
      logEvent("chain.head_uncompared", { network, error });
    }
    if (isLast) end(watched, error);
  }
}

/**
 * Ends the comparison. Where the books lack something, or the last try failed and any of them found all nodes to be behind the
 * clock, signing waits for blocks that the scan has yet to read.
 */
function end({ chain, memory: { comparison } }: Watched, last: ChainUnavailable | null): void {
  const { network } = chain;
  const { unknown, behind, lacksBlocks } = comparison;
  if (unknown !== null) {
    const { height: head, time } = unknown;
    comparison.waitFor({ height: head + blocksIn(MARGIN_MS, chain), time: time + MARGIN_MS });
    logEvent("chain.head_unknown", { network, head, height: comparison.awaited });
  } else if (last !== null && behind !== null && lacksBlocks) {
    const { height: head, behindMs } = behind;
    const blocks = blocksIn(Math.min(behindMs, MOST_BEHIND_MS) + MARGIN_MS, chain);
    comparison.waitFor({ height: head + blocks, time: askedAt(behind) + MARGIN_MS, behindMs });
    logEvent("chain.head_behind", { network, head, height: comparison.awaited });
  } else {
    if (last !== null) logEvent("chain.head_not_compared", { network, error: last });
    comparison.agree();
  }
}

/**
 * Time at which a newest block was told, Unix milliseconds, or a moment before. Signing waits by it for blocks that are newer, and
 * not by the block's own time: a node can give a block that no chain has any time, and one that is long ago would be reached at once.
 */
function askedAt({ time, behindMs }: FurthestBlock): number {
  return time + behindMs;
}

/** Takes in what newest blocks show that the books do not know. @throws {ChainUnavailable} where not all of them are shown */
async function compare(
  watched: Watched,
  solid: Cursor,
  newest: FurthestBlock,
  signal: AbortSignal,
): Promise<void> {
  const { comparison } = watched.memory;
  const { begun } = comparison;
  const { nonce, behindMs } = newest;
  if (nonce === null) await compareTransfers(watched, solid, newest, signal);
  else if (await isUnpromised(watched, nonce)) {
    requireSame(comparison, begun, signal);
    const time = Math.max(solid.time, askedAt(newest));
    comparison.recordUnknown({ height: Math.max(solid.height, newest.height), time });
  }
  if (comparison.unknown === null && behindMs > 0) {
    const seconds = Math.round(behindMs / 1_000);
    throw notShown(`the newest one that nodes show, ${newest.height}, is ${seconds} s old`);
  }
}

/** True where the hot wallet has used a nonce that the books have never promised. */
async function isUnpromised(
  { sql, chain: { network } }: Watched,
  next: number,
): Promise<boolean> {
  const first = await readFirstNonce(sql, network);
  // a lane that has not begun does so only where nothing of its wallet is above the solid blocks
  if (first === null) return false;
  // read after nodes were asked: what another service has promised meanwhile is known
  return next > Math.max(first, await readNextNonce(sql, network, "hot"));
}

async function compareTransfers(
  { sql, chain, memory: { comparison } }: Watched,
  solid: Cursor,
  newest: BlockRef,
  signal: AbortSignal,
): Promise<void> {
  const { network } = chain;
  const { begun } = comparison;
  if (newest.height < solid.height) throw notShown(`its newest block is ${newest.height}`);
  if (comparison.read === null || comparison.read.height < solid.height) comparison.read = solid;
  let last: Checkpoint = comparison.read;
  if (last.height < newest.height) {
    for await (const answer of chain.blocks(last.height + 1, newest.height, "head", signal)) {
      if (answer.kind !== "block") throw notShown(`block ${answer.height} is ${answer.kind}`);
      const { block } = answer;
      if (!continues(block, last)) {
        comparison.beginAnew();
        throw notShown(`block ${block.height} does not continue block ${last.height}`);
      }
      const spends = await spendsOf(sql, chain, [block]);
      const txids = [...new Set(spends.map(({ transfer }) => transfer.txid))];
      const unsigned = await findUnsigned(sql, network, txids);
      requireSame(comparison, begun, signal);
      if (unsigned.length > 0 || comparison.unknown !== null) comparison.recordUnknown(block);
      comparison.read = last = { height: block.height, hash: block.hash };
    }
  }
  if (last.height < newest.height) throw notShown(`block ${last.height + 1} was not given`);
}

/** @throws {ChainUnavailable} where another try, or another comparison, has begun meanwhile */
function requireSame(comparison: HeadComparison, begun: number, signal: AbortSignal): void {
  if (signal.aborted || comparison.begun !== begun) throw notShown("another try has begun");
}

/** Puts questions to nodes within the time of a try, also to those that end with no signal. */
async function within<Answer>(
  signal: AbortSignal,
  ask: (short: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const short = AbortSignal.any([signal, AbortSignal.timeout(TRY_MS)]);
  const isOver = Promise.withResolvers<never>();
  const end = () => isOver.reject(notShown(`they were not shown in ${TRY_MS / 1_000} s`));
  short.addEventListener("abort", end);
  try {
    return await Promise.race([ask(short), isOver.promise]);
  } finally {
    short.removeEventListener("abort", end);
  }
}

function notShown(reason: string): ChainUnavailable {
  return new ChainUnavailable(
    "malformed",
    `Cannot compare newest blocks with the books as ${reason}`,
  );
}
