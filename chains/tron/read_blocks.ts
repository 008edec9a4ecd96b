/**
 * Reads blocks with their receipts from one node, singly or in ranges.
 *
 * @module
 */

import {
  type BlockAnswer,
  type BlockRef,
  ChainUnavailable,
  type Checkpoint,
  type Finality,
} from "../chain.ts";
import { blockHeadSchema } from "./answers.ts";
import { ForeignNode } from "./foreign_node.ts";
import type { NewestPlace } from "./newest_place.ts";
import type { TronNode } from "./node.ts";
import { type NodePool, readEither } from "./node_pool.ts";
import { blockRefOf, type ParseContext } from "./parse_block.ts";
import { hasCheckpoint, readAtCheckpoint } from "./read_at_checkpoint.ts";
import { type BlockRange, CutRange, isWhole, prefixOf, readOne, readRange } from "./read_range.ts";

/** Blocks per range call; nodes allow 100, but more than 10 busy ones at once cost time in the collector. */
const RANGE_BLOCKS = 10;
/** Ranges under way or waiting: while blocks are written, these are read; more of them cost the collector time. */
const RANGES_AHEAD = 5;
/** Ranges that are asked for at once: nodes refuse whoever asks for too much. */
const RANGES_AT_ONCE = 3;
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
      const block = blockRefOf(answer);
      place.require(block, node.label);
      return block;
    },
    signal,
    isFresh,
    (kept, found) => (found.height > kept.height ? found : kept),
  );
}

/** True if a block's time is near enough to the clock for its node to be in step. */
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

/** Nodes that blocks are read from, and the tokens that count. */
export interface BlockSource {
  readonly pool: NodePool;
  readonly context: ParseContext;
}

/**
 * The blocks of any range in order, fetched ahead.
 *
 * @param checkpoint what the nodes that are read must have; each looked at with each of its ranges
 * @param continued the block before the first; see {@linkcode Chain.blocks}
 * @throws {ChainUnavailable} when a range cannot be read from any node
 */
export async function* readBlocks(
  source: BlockSource,
  { from, to, finality }: BlockRange,
  signal?: AbortSignal,
  checkpoint?: Checkpoint,
  continued?: Checkpoint,
): AsyncGenerator<BlockAnswer> {
  const stop = new AbortController();
  const bound = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  // more at once would only wait for their turns, and be lost with the first that fails
  const atOnce = source.pool.nodes.some((node) => node.callsPerSecond !== null)
    ? 1
    : RANGES_AT_ONCE;
  const ahead: { readonly wanted: BlockRange; readonly range: Promise<Reading> }[] = [];
  let last = continued;
  let next = from;
  let underWay = 0;
  /** What comes after a block that cannot be told is never told. */
  function askNoMore(): void {
    next = to + 1;
  }
  function askOn(): void {
    while (underWay < atOnce && ahead.length < RANGES_AHEAD && next <= to) {
      const end = Math.min(next + RANGE_BLOCKS - 1, to);
      const wanted = { from: next, to: end, finality };
      const parent = next === from ? continued : undefined;
      const range = readRangeOf(source, wanted, bound, checkpoint, parent);
      ahead.push({ wanted, range });
      next = end + 1;
      underWay++;
      range.then(
        ({ answers, failure }) => {
          underWay--;
          if (failure !== null || !answers.every(isWhole)) askNoMore();
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
      const first = ahead.shift();
      if (first === undefined) return;
      let reading = await first.range;
      // the node that was read before failed meanwhile, and this one is of another branch
      if (last !== undefined && isStrange(reading.answers, last)) {
        reading = await readRangeOf(source, first.wanted, bound, checkpoint, last);
      }
      const { answers, failure } = reading;
      for (const answer of answers) {
        if (last !== undefined && answer.kind === "block") last = placeOf(answer.block);
        yield answer;
        if (!isWhole(answer)) return;
      }
      if (failure !== null) throw failure;
    }
  } finally {
    // Also when the consumer stops early: ranges under way are of no use then.
    stop.abort();
  }
}

/** What was read of a range, and what ended it before its end. */
interface Reading {
  readonly answers: readonly BlockAnswer[];
  readonly failure: ChainUnavailable | null;
}

/**
 * One range from the first node that gives all of it, or as much as any did: what one has given before
 * it failed is not lost with it.
 *
 * @param parent what it has to continue: nodes that do not are set apart where another one does
 * @throws {ChainUnavailable} when no node gives even the first block
 */
async function readRangeOf(
  { pool, context }: BlockSource,
  wanted: BlockRange,
  signal: AbortSignal,
  checkpoint: Checkpoint | undefined,
  parent: Checkpoint | undefined,
): Promise<Reading> {
  let cut: Reading = { answers: [], failure: null };
  const strangers: TronNode[] = [];
  const isOurs = (answers: readonly BlockAnswer[]) =>
    parent === undefined || !isStrange(answers, parent);
  const better = (kept: readonly BlockAnswer[], found: readonly BlockAnswer[]) => {
    if (isOurs(kept) !== isOurs(found)) return isOurs(kept) ? kept : found;
    return found.length > kept.length ? found : kept;
  };
  const found = (): Reading => {
    if (parent !== undefined && cut.answers[0]?.kind === "block") {
      setApart(pool, strangers, parent);
    }
    return cut;
  };
  try {
    const answers = await readAtCheckpoint(pool, checkpoint, {
      attempt: async (node, bound) => {
        try {
          const answers = await readRange(node, wanted, context, bound);
          if (!isOurs(answers)) strangers.push(node);
          return answers;
        } catch (error) {
          if (!(error instanceof CutRange)) throw error;
          const { answers, failure } = error;
          if (!isOurs(answers)) strangers.push(node);
          else if (answers.length > cut.answers.length) cut = { answers, failure };
          throw failure;
        }
      },
      isEnough: (answers) => isOurs(answers) && answers.every(isWhole),
      better,
    }, signal);
    if (!isOurs(answers) && cut.answers.length === 0) return { answers, failure: null };
    if (isOurs(answers) && answers.length > cut.answers.length) cut = { answers, failure: null };
    return found();
  } catch (error) {
    if (!(error instanceof ChainUnavailable) || cut.answers.length === 0) throw error;
    return found();
  }
}

/** True if the first block does not continue the one before. */
function isStrange([first]: readonly BlockAnswer[], { hash }: Checkpoint): boolean {
  return first?.kind === "block" && first.block.parentHash !== hash;
}

function placeOf({ height, hash }: Checkpoint): Checkpoint {
  return { height, hash };
}

/** Nodes that another one proved wrong are believed again once they have our block. */
function setApart(pool: NodePool, strangers: readonly TronNode[], ours: Checkpoint): void {
  for (const node of strangers) {
    const error = new ForeignNode(
      `Cannot use a node as it is of another branch (it does not continue solid block ` +
        `${ours.height}, as others do): ${node.label}`,
    );
    pool.setApart(node, error, async (asked, signal) => {
      if (!await hasCheckpoint(asked, ours, signal)) throw error;
    });
  }
}
