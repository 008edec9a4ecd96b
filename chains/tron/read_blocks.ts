/**
 * Reads blocks with their receipts from one node, singly or in ranges.
 *
 * @module
 */

import type { BlockAnswer, BlockRef, Finality, Landmark } from "../chain.ts";
import { blockHeadSchema } from "./answers.ts";
import { type NodePool, readEither } from "./node_pool.ts";
import { blockRefOf, type ParseContext } from "./parse_block.ts";
import { readKnown } from "./read_known.ts";
import {
  type BlockRange,
  isWhole,
  prefixOf,
  readOne,
  type ReadRange,
  readRangeHere,
} from "./read_range.ts";

/** Blocks per range call; nodes allow 100, but more than 10 busy ones at once cost time in the collector. */
const RANGE_BLOCKS = 10;
/** Ranges under way or waiting: while blocks are written, these are read; more of them cost the collector time. */
const RANGES_AHEAD = 5;
/** Ranges that are asked for at once: nodes refuse whoever asks for too much. */
const RANGES_AT_ONCE = 3;
/** To read fewer on another thread saves less than to start it costs. */
const WORTH_A_THREAD = 100;
/** A minute more than a solid block is old in regular operation. */
const STALE_MS = 2 * 60 * 1000;

/**
 * The newest block of a view, without its transactions where the node can leave them out. A node
 * that is far behind the clock is stuck or still syncing, so another one is asked as well.
 */
export async function readNewest(
  pool: NodePool,
  finality: Finality,
  signal?: AbortSignal,
): Promise<BlockRef> {
  const prefix = prefixOf(finality);
  return await pool.read(
    async (node, bound) => {
      const answer = await readEither(
        node,
        { path: `${prefix}/getblock`, body: { detail: false } },
        { path: `${prefix}/getnowblock`, body: {} },
        blockHeadSchema,
        bound,
      );
      return blockRefOf(answer);
    },
    signal,
    isFresh,
    (kept, found) => (found.height > kept.height ? found : kept),
  );
}

/** Whether a block's time is near enough to the clock for its node to be in step. */
function isFresh(block: BlockRef): boolean {
  return Date.now() - block.time < STALE_MS;
}

/** One block; transactions and receipts come from the same node. */
export async function readBlock(
  pool: NodePool,
  height: number,
  finality: Finality,
  context: ParseContext,
  signal?: AbortSignal,
): Promise<BlockAnswer> {
  return await pool.read(
    (node, bound) => readOne(node, height, finality, context, bound),
    signal,
    isWhole,
  );
}

/** Where blocks are read from, and how. */
export interface BlockSource {
  readonly pool: NodePool;
  readonly context: ParseContext;
  /** Reads the ranges of long ways, for example on a thread of its own. */
  readonly readRange: ReadRange;
}

/**
 * The blocks of any range in order, fetched ahead.
 *
 * @param landmark what the nodes that are read must have; each looked at with each of its ranges
 * @throws {ChainUnavailable} when a range cannot be read from any node
 */
export async function* readBlocks(
  { pool, context, readRange }: BlockSource,
  { from, to, finality }: BlockRange,
  signal?: AbortSignal,
  landmark?: Landmark,
): AsyncGenerator<BlockAnswer> {
  const read = to - from + 1 < WORTH_A_THREAD ? readRangeHere : readRange;
  const stop = new AbortController();
  const bound = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  const ahead: Promise<readonly BlockAnswer[]>[] = [];
  let next = from;
  let underWay = 0;
  /** What comes after a block that cannot be told is never told. */
  function askNoMore(): void {
    next = to + 1;
  }
  function askOn(): void {
    while (underWay < RANGES_AT_ONCE && ahead.length < RANGES_AHEAD && next <= to) {
      const end = Math.min(next + RANGE_BLOCKS - 1, to);
      const wanted = { from: next, to: end, finality };
      const range = readKnown(pool, landmark, {
        attempt: (node, bound) => read(node, wanted, context, bound),
        isEnough: (answers) => answers.every(isWhole),
        better: (kept, found) => (found.length > kept.length ? found : kept),
      }, bound);
      ahead.push(range);
      next = end + 1;
      underWay++;
      range.then(
        (answers) => {
          underWay--;
          if (!answers.every(isWhole)) askNoMore();
          if (!bound.aborted) askOn();
        },
        // It is told when its turn comes; until then a failure must not count as unhandled.
        askNoMore,
      );
    }
  }
  try {
    while (true) {
      askOn();
      const range = ahead.shift();
      if (range === undefined) return;
      for (const answer of await range) {
        yield answer;
        if (!isWhole(answer)) return;
      }
    }
  } finally {
    // Also when the consumer stops early: ranges under way are of no use then.
    stop.abort();
  }
}
