/**
 * Reads the blocks of any range in order, fetched ahead from several nodes.
 *
 * @module
 */

import { type BlockAnswer, ChainUnavailable, type Checkpoint } from "../chain.ts";
import { type BlockRange, isWhole, type Reading } from "./block_range.ts";
import type { ChainNode } from "./node.ts";
import type { NodePool } from "./node_pool.ts";

/** Blocks per range; nodes give more at once, but more than 10 busy ones cost time in the collector. */
const RANGE_BLOCKS = 10;
/** Ranges under way or waiting: while blocks are written, these are read; more of them cost the collector time. */
const RANGES_AHEAD = 5;
/** Ranges that are asked for at once: nodes refuse those who ask for too much. */
const RANGES_AT_ONCE = 3;

/** Nodes that blocks are read from, and how that is done in their chain's dialect. */
export interface BlockSource {
  readonly pool: NodePool;
  /** Reads a range from one node; see {@linkcode readInSteps}. */
  readonly readRange: (
    node: ChainNode,
    range: BlockRange,
    signal: AbortSignal,
  ) => Promise<Reading>;
  /** So many times the usual time a range has that begins with a block; default 1. */
  readonly timeFactor?: (height: number) => number;
}

/**
 * The blocks of any range in order, fetched ahead.
 *
 * @param checkpoint block that the nodes which are read must have; checked with each range
 * @param continued the block before the first; see {@linkcode Chain.blocks}
 * @throws {ChainUnavailable} when a range cannot be read from any node
 */
export async function* readAhead(
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
  /** Blocks after one that cannot be read are never yielded. */
  function askNoMore(): void {
    next = to + 1;
  }
  function askOn(): void {
    // a block that has failed may be long: what is read beside it takes its time and its memory
    const most = (source.timeFactor?.(from) ?? 1) > 1 ? 1 : atOnce;
    while (underWay < most && ahead.length < RANGES_AHEAD && next <= to) {
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
        // It is thrown when its turn comes; until then a failure must not count as unhandled.
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
      if (last !== undefined && isOnOtherBranch(reading.answers, last)) {
        reading = await readRangeOf(source, first.wanted, bound, checkpoint, last);
      }
      const { answers, failure } = reading;
      for (const answer of answers) {
        if (last !== undefined && answer.kind === "block") last = answer.block;
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

/**
 * One range from the first node that gives all of it, or as much as any did: the blocks that one has given
 * before it failed are not lost with it.
 *
 * @param parent block that it has to continue: nodes that do not are left alone where another one does
 * @throws {ChainUnavailable} when no node gives even the first block
 */
async function readRangeOf(
  { pool, readRange, timeFactor = () => 1 }: BlockSource,
  wanted: BlockRange,
  signal: AbortSignal,
  checkpoint: Checkpoint | undefined,
  parent: Checkpoint | undefined,
): Promise<Reading> {
  let best: Reading = { answers: [], failure: null };
  const onOtherBranch: ChainNode[] = [];
  const continues = (answers: readonly BlockAnswer[]) =>
    parent === undefined || !isOnOtherBranch(answers, parent);
  const found = (): Reading => {
    if (parent !== undefined && best.answers[0]?.kind === "block") {
      for (const node of onOtherBranch) pool.leaveUntilItHas(parent, node);
    }
    return best;
  };
  try {
    const answers = await pool.read(async (node, bound) => {
      const { answers, failure } = await readRange(node, wanted, bound);
      if (!continues(answers)) onOtherBranch.push(node);
      if (failure === null) return answers;
      if (continues(answers) && answers.length > best.answers.length) best = { answers, failure };
      throw failure;
    }, {
      signal,
      checkpoint,
      timeFactor: timeFactor(wanted.from),
      isEnough: (answers) => continues(answers) && answers.every(isWhole),
      better: (kept, found) => {
        if (continues(kept) !== continues(found)) return continues(kept) ? kept : found;
        return found.length > kept.length ? found : kept;
      },
    });
    if (!continues(answers) && best.answers.length === 0) return { answers, failure: null };
    if (continues(answers) && answers.length > best.answers.length) {
      best = { answers, failure: null };
    }
    return found();
  } catch (error) {
    if (!(error instanceof ChainUnavailable) || best.answers.length === 0) throw error;
    return found();
  }
}

/** True if the first block does not continue the one before. */
function isOnOtherBranch([first]: readonly BlockAnswer[], { hash }: Checkpoint): boolean {
  return first?.kind === "block" && first.block.parentHash !== hash;
}
