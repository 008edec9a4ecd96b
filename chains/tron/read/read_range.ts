/**
 * Reads blocks with their receipts from one node.
 *
 * @module
 */

import { type BlockAnswer, ChainUnavailable, type Finality } from "../../chain.ts";
import type { FullBlockAnswer, ReceiptAnswer } from "./answers.ts";
import {
  keptBytesOf,
  longBlock,
  longBlockList,
  longReceipt,
  longReceipts,
} from "./long_answers.ts";
import { KEPT_ALONE_BYTES } from "./long_read.ts";
import type { LongBlocks } from "./long_blocks.ts";
import {
  type BlockRange,
  type Reading,
  readInSteps,
  readOneByOne,
} from "../../nodes/block_range.ts";
import { MOST_AHEAD_MS, requireTime } from "../../nodes/believed_nodes.ts";
import type { ChainNode } from "../../nodes/node.ts";
import { OverlongAnswer } from "../../nodes/node_failures.ts";
import { readFrom } from "./read_from.ts";
import { parseBlock, type ParseContext } from "./parse_block.ts";

/** Receipts that are asked for at once where they are asked for one by one. */
const RECEIPTS_AT_ONCE = 4;

/** Parts that blocks of one network are read with. */
export interface RangeSource {
  readonly context: ParseContext;
  readonly long: LongBlocks;
}

/**
 * Reads the blocks of a range; see {@linkcode readInSteps}.
 *
 * @throws {ChainUnavailable} when not even the first can be read
 */
export async function readRange(
  node: ChainNode,
  range: BlockRange,
  source: RangeSource,
  signal: AbortSignal,
): Promise<Reading> {
  const { from, finality } = range;
  const one = (height: number) => readOne(node, height, finality, source, signal);
  // together with others it may take too much time again
  if (source.long.hasFailed(from)) return await readOneByOne(range, { one });
  let tooLong: ChainUnavailable | null = null;
  const heads = async (wanted: BlockRange) => {
    try {
      return await headsOf(node, wanted, source, signal);
    } catch (error) {
      if (source.long.failed(from, node, error, signal)) tooLong = error;
      throw error;
    }
  };
  const complete = (answer: FullBlockAnswer) =>
    completeBlock(node, answer, finality, source, signal);
  try {
    return await readInSteps(range, { heads, complete, one });
  } catch (error) {
    if (tooLong === null || error !== tooLong) throw error;
    const { message: reason } = tooLong as ChainUnavailable;
    return { answers: [{ kind: "incomplete", height: from, reason }], failure: null };
  }
}

/** The API prefix of a view of the chain. */
export function prefixOf(finality: Finality): "/wallet" | "/walletsolidity" {
  return finality === "solid" ? "/walletsolidity" : "/wallet";
}

/** The receipts of a block whose transactions are known, and both parsed together. */
async function completeBlock(
  node: ChainNode,
  answer: FullBlockAnswer,
  finality: Finality,
  { context, long }: RangeSource,
  signal: AbortSignal,
): Promise<BlockAnswer> {
  const { number: height } = answer.block_header.raw_data;
  let receipts: readonly ReceiptAnswer[];
  try {
    receipts = await receiptsOf(node, answer, finality, { context, long }, signal);
  } catch (error) {
    if (!long.failed(height, node, error, signal)) throw error;
    return { kind: "incomplete", height, reason: error.message };
  }
  const block = parsed(answer, receipts, context);
  if (block.kind === "block") long.succeeded(height);
  else long.wasNotWhole(height, answer.blockID, node);
  return block;
}

/** The receipts of a block as far as the node has them, in one answer or, where that is too long, one by one. */
async function receiptsOf(
  node: ChainNode,
  answer: FullBlockAnswer,
  finality: Finality,
  source: RangeSource,
  signal: AbortSignal,
): Promise<readonly ReceiptAnswer[]> {
  // an empty block needs no second call: there is nothing whose receipt could be missing
  if (answer.transactions.length === 0) return [];
  const { context: { tokens }, long } = source;
  const { number: height } = answer.block_header.raw_data;
  if (long.tries.mayBeTogether(height)) {
    const path = `${prefixOf(finality)}/gettransactioninfobyblocknum`;
    const request = { path, body: { num: height }, terms: long.termsOf(height) };
    try {
      return await readFrom(node, request, longReceipts(tokens), signal);
    } catch (error) {
      // no one answer may be so long, but its receipts may be together
      if (!(error instanceof OverlongAnswer)) throw error;
    }
  }
  return await receiptsByTransaction(node, answer, finality, source, signal);
}

/**
 * The receipts of a block, asked for by its transactions.
 *
 * @throws {ChainUnavailable} also where they have more of use than is kept of a block
 */
async function receiptsByTransaction(
  node: ChainNode,
  { blockID, block_header: { raw_data: { number: height } }, transactions }: FullBlockAnswer,
  finality: Finality,
  { context: { tokens }, long }: RangeSource,
  signal: AbortSignal,
): Promise<readonly ReceiptAnswer[]> {
  const path = `${prefixOf(finality)}/gettransactioninfobyid`;
  const kept = long.keptOf(height, blockID, node);
  let bytes = 0;
  for (const receipt of kept.values()) bytes += keptBytesOf(receipt);
  const missing = transactions.filter(({ txID }) => !kept.has(txID));
  for (let i = 0; i < missing.length; i += RECEIPTS_AT_ONCE) {
    const group = missing.slice(i, i + RECEIPTS_AT_ONCE).map(async ({ txID }) => {
      const request = { path, body: { value: txID }, terms: long.termsOf(height) };
      const receipt = await readFrom(node, request, longReceipt(tokens), signal);
      if (receipt === null) return;
      kept.set(txID, receipt);
      bytes += keptBytesOf(receipt);
    });
    // those that have come are kept where another one fails
    const failed = (await Promise.allSettled(group)).find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
    if (bytes > KEPT_ALONE_BYTES) {
      throw new ChainUnavailable(
        "malformed",
        `Cannot read block ${height} as what is of use in it has more than ${KEPT_ALONE_BYTES} bytes`,
      );
    }
  }
  return [...kept.values()];
}

/** A block that contradicts itself is not whole; the good ones before it are returned all the same. */
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

/** One block; transactions and receipts come from the same node. */
export async function readOne(
  node: ChainNode,
  height: number,
  finality: Finality,
  source: RangeSource,
  signal: AbortSignal,
): Promise<BlockAnswer> {
  const { long, context } = source;
  const request = {
    path: `${prefixOf(finality)}/getblockbynum`,
    body: { num: height },
    terms: long.termsOf(height),
  };
  let answer: FullBlockAnswer | null;
  try {
    answer = await readFrom(node, request, longBlock, signal);
  } catch (error) {
    if (!long.failed(height, node, error, signal)) throw error;
    return { kind: "incomplete", height, reason: error.message };
  }
  if (answer === null) return { kind: "missing", height };
  requireBlock(answer, height, context, node);
  return await completeBlock(node, answer, finality, source, signal);
}

/** @throws {ChainUnavailable} when the node answered with another block than it was asked for, or its time has not come */
function requireBlock(
  answer: FullBlockAnswer,
  height: number,
  { mostAheadMs = MOST_AHEAD_MS }: ParseContext,
  node: ChainNode,
): void {
  const { number, timestamp: time } = answer.block_header.raw_data;
  if (number === height) return requireTime({ height, time }, mostAheadMs, node.label);
  throw new ChainUnavailable(
    "malformed",
    `Cannot read block ${height} as the node answered block ${number}: ${node.label}`,
  );
}

/** The blocks of a range without their receipts. */
async function headsOf(
  node: ChainNode,
  { from, to, finality }: BlockRange,
  { context, long }: RangeSource,
  signal: AbortSignal,
): Promise<readonly FullBlockAnswer[]> {
  const request = {
    path: `${prefixOf(finality)}/getblockbylimitnext`,
    body: { startNum: from, endNum: to + 1 },
    terms: long.termsOf(from),
  };
  const { block: found } = await readFrom(node, request, longBlockList, signal);
  const sorted = found.toSorted((a, b) =>
    a.block_header.raw_data.number - b.block_header.raw_data.number
  );
  sorted.forEach((answer, i) => requireBlock(answer, from + i, context, node));
  return sorted;
}
