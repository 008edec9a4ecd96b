/**
 * The comparison of a network's newest blocks with the books, once at each start and after the database was set back, before
 * anything is signed. A machine or volume that was set back to a copy has queued what was paid since. What of that is
 * in solid blocks the scan meets; blocks above them are compared here: on chains that count nonces the hot wallet's next one with
 * what the books have promised, elsewhere each transfer that leaves an own wallet with what was signed. What the books do not know has signing wait
 * until the scan has read it, which stops signing. A start that lost nothing waits for one look at some twenty blocks.
 *
 * It rests on what one node says. One that hides blocks, or shows none for a minute, lets signing go on with what solid blocks tell.
 * Not seen are transactions that are in no block yet, and nonces of deposit addresses, whose transfers stay with the service:
 * after a restore operators keep the signer paused until those are in blocks or have expired (docs/operations.md).
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import { ChainUnavailable, type Checkpoint } from "../../chains/chain.ts";
import type { LanePort } from "../../chains/lane.ts";
import { readFirstNonce } from "../../ledger/lanes/first_nonce.ts";
import { readNextNonce } from "../../ledger/lanes/open_nonces.ts";
import { type Cursor, readCursor } from "../../ledger/watcher/cursor.ts";
import { findUnsigned } from "../../ledger/watcher/unsigned_transactions.ts";
import { continues } from "./covered_heights.ts";
import type { HeadComparison } from "./head_comparison.ts";
import { spendsOf } from "./record_blocks.ts";
import { blocksIn, type Watched } from "./scan_memory.ts";

/** Time that one try has, milliseconds; what it has read is kept for the next one. */
const TRY_MS = 5_000;
/** Time whose blocks are read above those that show what the books lack, milliseconds. */
const MARGIN_MS = 30_000;

/**
 * Compares, where the scan has read what it had to; what nodes do not answer is tried again by the next look, for a minute.
 *
 * @param signal ends the try
 */
export async function compareHead(watched: Watched, signal: AbortSignal): Promise<void> {
  const { sql, chain: { network }, memory } = watched;
  const { comparison } = memory;
  // where the database is set back meanwhile, what was compared says nothing of its books
  const { begun } = comparison;
  if (comparison.state === "over") return;
  const solid = await readCursor(sql, network, "solid");
  if (solid === null || !memory.isScanReached) return;
  try {
    await within(signal, (short) => compare(watched, solid, short));
    if (comparison.begun !== begun) return;
    end(watched);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    if (comparison.begun !== begun) return;
    const { state } = comparison;
    const isLast = comparison.fail();
    if (comparison.state !== state) {
      logEvent("chain.head_uncompared", { network, error });
    }
    if (!isLast) return;
    logEvent("chain.head_not_compared", { network, error });
    end(watched);
  }
}

/** Ends the comparison; where the books lack something signing waits for blocks that the scan has yet to read. */
function end({ chain, memory: { comparison } }: Watched): void {
  const { unknown } = comparison;
  if (unknown === null) return comparison.agree();
  const { height: head, time } = unknown;
  comparison.waitFor({ height: head + blocksIn(MARGIN_MS, chain), time: time + MARGIN_MS });
  logEvent("chain.head_unknown", { network: chain.network, head, height: comparison.awaited });
}

/** Takes in what newest blocks show that the books do not know. @throws {ChainUnavailable} where not all of them are shown */
async function compare(watched: Watched, solid: Cursor, signal: AbortSignal): Promise<void> {
  const { life } = watched.chain.capabilities;
  if (life.kind === "nonce") await compareNonces(watched, life.lane, signal);
  else await compareTransfers(watched, solid, signal);
}

async function compareNonces(
  { sql, chain, memory }: Watched,
  lane: LanePort,
  signal: AbortSignal,
): Promise<void> {
  const { network, hotWallet } = chain;
  const { comparison, readSolid, readSolidTime } = memory;
  const { begun } = comparison;
  const used = await lane.next(hotWallet, "head", signal);
  // read after it: what another service has promised meanwhile is known
  const first = await readFirstNonce(sql, network);
  // a lane that has not begun does so only where nothing of its wallet is above the solid blocks
  if (first === null) return;
  if (used <= Math.max(first, await readNextNonce(sql, network, "hot"))) return;
  const head = await chain.head(signal);
  requireSame(comparison, begun, signal);
  comparison.recordUnknown({
    height: Math.max(readSolid, head.height),
    time: Math.max(readSolidTime, head.time),
  });
}

async function compareTransfers(
  { sql, chain, memory: { comparison } }: Watched,
  solid: Cursor,
  signal: AbortSignal,
): Promise<void> {
  const { network } = chain;
  const { begun } = comparison;
  const newest = await chain.head(signal);
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
