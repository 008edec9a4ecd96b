/**
 * Reads blocks with their receipts from a network's nodes, singly or in ranges.
 *
 * @module
 */

import { blockTime } from "../../block_clock.ts";
import type { BlockAnswer, BlockRef, Checkpoint, Finality } from "../../chain.ts";
import type { BlockAt, NewestPlace } from "../../nodes/believed_nodes.ts";
import { type BlockRange, isWhole } from "../../nodes/block_range.ts";
import { readAhead } from "../../nodes/read_ahead.ts";
import { headOrNothingSchema, headSchema } from "./answers.ts";
import { blockRefOf } from "./parse_block.ts";
import { readOne, readRange } from "./read_range.ts";
import { type EvmSource, type FinalBlocks, finalHead, headCall, rpc } from "./source.ts";

/**
 * The newest block of a view. A node that is far behind the clock is stuck or still syncing, so another one is
 * asked as well.
 *
 * @param staleMs age of a newest block from which on its node counts as behind
 */
export async function readNewest(
  { pool, finals, heads, named }: EvmSource,
  finality: Finality,
  place: NewestPlace,
  staleMs: number,
  signal?: AbortSignal,
): Promise<BlockRef> {
  return await pool.read(
    async (node, bound) => {
      const head = finality === "solid"
        ? await finalHead(node, bound)
        : await rpc.ask(node, headCall("latest"), headSchema, bound);
      const block = blockRefOf(head);
      place.require(block, node.label);
      if (finality === "solid") finals.record(node, head);
      else {
        heads.record(node, block);
        named.record(node, head);
      }
      return block;
    },
    {
      signal,
      isEnough: ({ time }) => blockTime() - time < staleMs,
      better: (kept, found) => found.height > kept.height ? found : kept,
    },
  );
}

/** One block; its head and its receipts come from the same node. */
export async function readBlock(
  source: EvmSource,
  height: number,
  finality: Finality,
  signal?: AbortSignal,
): Promise<BlockAnswer> {
  return await source.pool.read(
    (node, bound) => readOne(node, height, finality, source, bound),
    { signal, isEnough: isWhole, timeFactor: source.long.tries.timeFactor(height) },
  );
}

/** The blocks of any range in order, fetched ahead; see {@linkcode readAhead}. */
export function readBlocks(
  source: EvmSource,
  range: BlockRange,
  signal?: AbortSignal,
  checkpoint?: Checkpoint,
  continued?: Checkpoint,
): AsyncGenerator<BlockAnswer> {
  return readAhead(
    {
      pool: source.pool,
      readRange: (node, wanted, bound) => readRange(node, wanted, source, bound),
      timeFactor: (height) => source.long.tries.timeFactor(height),
    },
    range,
    signal,
    checkpoint,
    continued,
  );
}

/** Makes the look-up of a block's place in a node's chain; see {@linkcode BlockAt}. */
export function evmBlockAt(finals: FinalBlocks): BlockAt {
  return async (node, height, finality, signal) => {
    if (finality === "solid" && (await finals.upTo(node, height, signal)).number < height) {
      return null;
    }
    const head = await rpc.ask(node, headCall(height), headOrNothingSchema, signal);
    return head === null ? null : blockRefOf(head);
  };
}
