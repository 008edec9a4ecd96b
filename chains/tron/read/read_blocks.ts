/**
 * Reads blocks with their receipts from one node, singly or in ranges.
 *
 * @module
 */

import { blockTime } from "../../block_clock.ts";
import type { BlockAnswer, BlockRef, Checkpoint, Finality, FurthestBlock } from "../../chain.ts";
import type { BlockAt, NewestPlace } from "../../nodes/believed_nodes.ts";
import { type BlockRange, isWhole } from "../../nodes/block_range.ts";
import { askAllNodes, furthestOf, type NewestBounds } from "../../nodes/furthest_block.ts";
import type { ChainNode } from "../../nodes/node.ts";
import type { NodePool } from "../../nodes/node_pool.ts";
import { readAhead } from "../../nodes/read_ahead.ts";
import { longHead, longHeadOrNothing } from "./long_answers.ts";
import { blockRefOf } from "./parse_block.ts";
import { readEither, readFrom } from "./read_from.ts";
import { prefixOf, type RangeSource, readOne, readRange } from "./read_range.ts";

/** A minute more than a solid block is old in regular operation. */
const STALE_MS = 2 * 60 * 1000;

/**
 * The newest block of a view, without its transactions where the node can leave them out. A node
 * that is far behind the clock is stuck or still syncing, so another one is asked as well.
 */
export async function readNewest(
  pool: NodePool,
  finality: Finality,
  place: NewestPlace,
  signal?: AbortSignal,
): Promise<BlockRef> {
  return await pool.read(
    (node, bound) => newestOf(node, finality, place, bound),
    {
      signal,
      isEnough: isFresh,
      better: (kept, found) => found.height > kept.height ? found : kept,
    },
  );
}

/** The newest block of all nodes that answer at once. */
export async function readFurthest(
  pool: NodePool,
  place: NewestPlace,
  bounds: NewestBounds,
  signal?: AbortSignal,
): Promise<FurthestBlock> {
  const blocks = await askAllNodes(
    pool,
    (node, bound) => newestOf(node, "head", place, bound),
    signal,
  );
  return { ...furthestOf(blocks, bounds), nonce: null };
}

/** The newest block of one node. */
async function newestOf(
  node: ChainNode,
  finality: Finality,
  place: NewestPlace,
  signal: AbortSignal,
): Promise<BlockRef> {
  const prefix = prefixOf(finality);
  const answer = await readEither(
    node,
    { path: `${prefix}/getblock`, body: { detail: false } },
    { path: `${prefix}/getnowblock`, body: {} },
    longHead,
    signal,
  );
  const block = blockRefOf(answer);
  place.require(block, node.label);
  return block;
}

/** True if a block's time is near enough to the clock for its node to be in step. */
function isFresh(block: BlockRef): boolean {
  return blockTime() - block.time < STALE_MS;
}

/** One block; transactions and receipts come from the same node. */
export async function readBlock(
  source: BlockSource,
  height: number,
  finality: Finality,
  signal?: AbortSignal,
): Promise<BlockAnswer> {
  return await source.pool.read(
    (node, bound) => readOne(node, height, finality, source, bound),
    { signal, isEnough: isWhole, timeFactor: source.long.tries.timeFactor(height) },
  );
}

/** Nodes that blocks are read from, the tokens that count, and what is known of blocks that are long. */
export interface BlockSource extends RangeSource {
  readonly pool: NodePool;
}

/** The blocks of any range in order, fetched ahead; see {@linkcode readAhead}. */
export function readBlocks(
  blocks: BlockSource,
  range: BlockRange,
  signal?: AbortSignal,
  checkpoint?: Checkpoint,
  continued?: Checkpoint,
): AsyncGenerator<BlockAnswer> {
  const source = {
    pool: blocks.pool,
    readRange: (node: ChainNode, wanted: BlockRange, bound: AbortSignal) =>
      readRange(node, wanted, blocks, bound),
    timeFactor: (height: number) => blocks.long.tries.timeFactor(height),
  };
  return readAhead(source, range, signal, checkpoint, continued);
}

/** Place of a block in a node's chain; see {@linkcode BlockAt}. */
export const tronBlockAt: BlockAt = async (node, height, finality, signal) => {
  const request = { path: `${prefixOf(finality)}/getblockbynum`, body: { num: height } };
  const answer = await readFrom(node, request, longHeadOrNothing, signal);
  return answer === null ? null : blockRefOf(answer);
};
