import type { BlockRef, FurthestBlock } from "../chain.ts";
import { blockTime } from "../block_clock.ts";
import type { ChainNode } from "./node.ts";
import type { NodePool } from "./node_pool.ts";

/** Time for which the other nodes' newest blocks are waited for once one node has answered, milliseconds. */
const OTHERS_MS = 2_000;
/** Time from the question on after which they are waited for no more, milliseconds: callers give up after five seconds. */
const LATEST_MS = 4_000;
/** A newest block may be so much behind the clock, at least; milliseconds. */
export const NEAR_MS = 30_000;
/** The same in blocks. */
export const NEAR_BLOCKS = 4;

/** Bounds of a chain's newest block. */
export interface NewestBounds {
  /** Time between two blocks, milliseconds. */
  readonly blockMs: number;
  /** See {@linkcode Capabilities.mostAheadMs}; where nothing bounds a block's time it is not compared with the clock either. */
  readonly mostAheadMs: number;
}

/**
 * Asks all nodes at once; one that is silent costs two seconds, and no answer that another one has given in time.
 *
 * @returns at least one answer
 * @throws {ChainUnavailable} when none answers
 */
export function askAllNodes<T>(
  pool: NodePool,
  attempt: (node: ChainNode, signal: AbortSignal) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<readonly T[]> {
  const most = pool.nodes.length;
  return pool.readSeveral(attempt, { signal, most, othersMs: OTHERS_MS, latestMs: LATEST_MS });
}

/**
 * The highest of some nodes' newest blocks, at least one, and by how much it is behind the clock: a node that is behind answers as
 * readily as one that is not.
 */
export function furthestOf(
  blocks: readonly BlockRef[],
  { blockMs, mostAheadMs }: NewestBounds,
): Omit<FurthestBlock, "nonce"> {
  const block = blocks.reduce((most, one) => one.height > most.height ? one : most);
  const age = blockTime() - block.time;
  const isNear = mostAheadMs === Infinity || age < Math.max(NEAR_MS, NEAR_BLOCKS * blockMs);
  return { ...block, behindMs: isNear ? 0 : age };
}
