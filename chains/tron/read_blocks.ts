/**
 * Reads blocks with their receipts from one node, singly or in ranges.
 *
 * @module
 */

import {
  type BlockAnswer,
  type BlockRef,
  ChainUnavailable,
  type Finality,
  type Landmark,
} from "../chain.ts";
import {
  blockHeadSchema,
  blockOrNothingSchema,
  type FullBlockAnswer,
  type ReceiptAnswer,
} from "./answers.ts";
import { blockListShape, receiptsShape } from "./answer_text.ts";
import type { TronNode } from "./node.ts";
import { type NodePool, readEither, readFrom } from "./node_pool.ts";
import { blockRefOf, parseBlock, type ParseContext } from "./parse_block.ts";
import { readKnown } from "./read_known.ts";

/** Blocks per range call; nodes allow 100, but more than 10 busy ones at once cost time in the collector. */
const RANGE_BLOCKS = 10;
/** Ranges under way or waiting: while blocks are written, these are read; more of them cost the collector time. */
const RANGES_AHEAD = 5;
/** Ranges that are asked for at once: nodes refuse whoever asks for too much. */
const RANGES_AT_ONCE = 3;
/** A minute more than a solid block is old in regular operation. */
const STALE_MS = 2 * 60 * 1000;
/** Receipt calls under way at once within a range. */
const RECEIPT_CALLS = 4;

/** The API prefix of a view of the chain. */
export function prefixOf(finality: Finality): "/wallet" | "/walletsolidity" {
  return finality === "solid" ? "/walletsolidity" : "/wallet";
}

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

/** The receipts of a block whose transactions are known, and both parsed together. */
async function completeBlock(
  node: TronNode,
  answer: FullBlockAnswer,
  finality: Finality,
  context: ParseContext,
  signal: AbortSignal,
): Promise<BlockAnswer> {
  // An empty block needs no second call: there is nothing whose receipt could be missing.
  if (answer.transactions.length === 0) return parsed(answer, [], context);
  const path = `${prefixOf(finality)}/gettransactioninfobyblocknum`;
  const body = { num: answer.block_header.raw_data.number };
  const receipts = await readFrom(node, { path, body }, receiptsShape, signal);
  return parsed(answer, receipts, context);
}

/** A block that contradicts itself is not whole; the good ones before it are told all the same. */
function parsed(
  answer: FullBlockAnswer,
  receipts: readonly ReceiptAnswer[],
  context: ParseContext,
): BlockAnswer {
  try {
    return parseBlock(answer, receipts, context);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    const height = answer.block_header.raw_data.number;
    return { kind: "incomplete", height, reason: error.message };
  }
}

/** Whether an answer is worth asking no further node. */
function isWhole(answer: BlockAnswer): boolean {
  return answer.kind === "block";
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

async function readOne(
  node: TronNode,
  height: number,
  finality: Finality,
  context: ParseContext,
  signal: AbortSignal,
): Promise<BlockAnswer> {
  const request = { path: `${prefixOf(finality)}/getblockbynum`, body: { num: height } };
  const answer = await readFrom(node, request, blockOrNothingSchema, signal);
  if (answer === null) return { kind: "missing", height };
  requireHeight(answer, height, node);
  return await completeBlock(node, answer, finality, context, signal);
}

/** @throws {ChainUnavailable} when the node answered with another block than it was asked for */
function requireHeight(answer: FullBlockAnswer, height: number, node: TronNode): void {
  const { number } = answer.block_header.raw_data;
  if (number === height) return;
  throw new ChainUnavailable(
    "malformed",
    `Cannot read block ${height} as the node answered block ${number}: ${node.label}`,
  );
}

/** The blocks of one range in order, up to the first that the node does not have whole. */
async function readRange(
  pool: NodePool,
  from: number,
  to: number,
  finality: Finality,
  context: ParseContext,
  signal: AbortSignal,
  landmark: Landmark | undefined,
): Promise<BlockAnswer[]> {
  return await readKnown(pool, landmark, {
    attempt: async (node, bound) => {
      try {
        return await rangeOf(node, from, to, finality, context, bound);
      } catch (error) {
        if (!isMalformed(error) || from === to) throw error;
        return await oneByOne(node, from, to, finality, context, bound);
      }
    },
    isEnough: (answers) => answers.every(isWhole),
    better: (kept, found) => (found.length > kept.length ? found : kept),
  }, signal);
}

async function rangeOf(
  node: TronNode,
  from: number,
  to: number,
  finality: Finality,
  context: ParseContext,
  signal: AbortSignal,
): Promise<BlockAnswer[]> {
  const request = {
    path: `${prefixOf(finality)}/getblockbylimitnext`,
    body: { startNum: from, endNum: to + 1 },
  };
  const { block: found } = await readFrom(node, request, blockListShape, signal);
  const sorted = found.toSorted((a, b) =>
    a.block_header.raw_data.number - b.block_header.raw_data.number
  );
  sorted.forEach((answer, i) => requireHeight(answer, from + i, node));
  const answers: BlockAnswer[] = [];
  for (let i = 0; i < sorted.length && answers.every(isWhole); i += RECEIPT_CALLS) {
    const group = sorted.slice(i, i + RECEIPT_CALLS);
    answers.push(
      ...await Promise.all(
        group.map((answer) => completeBlock(node, answer, finality, context, signal)),
      ),
    );
  }
  const height = from + answers.length;
  if (answers.every(isWhole) && height <= to) answers.push({ kind: "missing", height });
  return answers;
}

/**
 * The same block by block, where one of them makes the whole answer malformed: the others must not
 * wait for it.
 *
 * @throws {ChainUnavailable} when not even the first can be read; then the node may be at fault
 */
async function oneByOne(
  node: TronNode,
  from: number,
  to: number,
  finality: Finality,
  context: ParseContext,
  signal: AbortSignal,
): Promise<BlockAnswer[]> {
  const answers: BlockAnswer[] = [];
  for (let height = from; height <= to && answers.every(isWhole); height++) {
    try {
      answers.push(await readOne(node, height, finality, context, signal));
    } catch (error) {
      if (!isMalformed(error) || height === from) throw error;
      answers.push({ kind: "incomplete", height, reason: error.message });
    }
  }
  return answers;
}

function isMalformed(error: unknown): error is ChainUnavailable {
  return error instanceof ChainUnavailable && error.category === "malformed";
}

/**
 * The blocks of any range in order, fetched ahead.
 *
 * @param landmark what the nodes that are read must have; each looked at with each of its ranges
 * @throws {ChainUnavailable} when a range cannot be read from any node
 */
export async function* readBlocks(
  pool: NodePool,
  from: number,
  to: number,
  finality: Finality,
  context: ParseContext,
  signal?: AbortSignal,
  landmark?: Landmark,
): AsyncGenerator<BlockAnswer> {
  const stop = new AbortController();
  const bound = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  const ahead: Promise<BlockAnswer[]>[] = [];
  let next = from;
  let underWay = 0;
  /** What comes after a block that cannot be told is never told. */
  function askNoMore(): void {
    next = to + 1;
  }
  function askOn(): void {
    while (underWay < RANGES_AT_ONCE && ahead.length < RANGES_AHEAD && next <= to) {
      const end = Math.min(next + RANGE_BLOCKS - 1, to);
      const range = readRange(pool, next, end, finality, context, bound, landmark);
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
