/**
 * Reads blocks with their receipts from one node.
 *
 * @module
 */

import { type BlockAnswer, ChainUnavailable, type Finality } from "../../chain.ts";
import type { FullBlockAnswer, ReceiptAnswer } from "./answers.ts";
import { longBlock, longBlockList, longReceipts } from "./long_answers.ts";
import { type BlockRange, type Reading, readInSteps } from "../../nodes/block_range.ts";
import { MOST_AHEAD_MS, requireTime } from "../../nodes/believed_nodes.ts";
import type { ChainNode } from "../../nodes/node.ts";
import { readFrom } from "./read_from.ts";
import { parseBlock, type ParseContext } from "./parse_block.ts";

/**
 * Reads the blocks of a range; see {@linkcode readInSteps}.
 *
 * @throws {ChainUnavailable} when not even the first can be read
 */
export async function readRange(
  node: ChainNode,
  range: BlockRange,
  context: ParseContext,
  signal: AbortSignal,
): Promise<Reading> {
  return await readInSteps(range, {
    heads: (wanted) => headsOf(node, wanted, context, signal),
    complete: (answer) => completeBlock(node, answer, range.finality, context, signal),
    one: (height) => readOne(node, height, range.finality, context, signal),
  });
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
  context: ParseContext,
  signal: AbortSignal,
): Promise<BlockAnswer> {
  // An empty block needs no second call: there is nothing whose receipt could be missing.
  if (answer.transactions.length === 0) return parsed(answer, [], context);
  const path = `${prefixOf(finality)}/gettransactioninfobyblocknum`;
  const body = { num: answer.block_header.raw_data.number };
  const receipts = await readFrom(node, { path, body }, longReceipts(context.tokens), signal);
  return parsed(answer, receipts, context);
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
  context: ParseContext,
  signal: AbortSignal,
): Promise<BlockAnswer> {
  const request = { path: `${prefixOf(finality)}/getblockbynum`, body: { num: height } };
  const answer = await readFrom(node, request, longBlock, signal);
  if (answer === null) return { kind: "missing", height };
  requireBlock(answer, height, context, node);
  return await completeBlock(node, answer, finality, context, signal);
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
  context: ParseContext,
  signal: AbortSignal,
): Promise<readonly FullBlockAnswer[]> {
  const request = {
    path: `${prefixOf(finality)}/getblockbylimitnext`,
    body: { startNum: from, endNum: to + 1 },
  };
  const { block: found } = await readFrom(node, request, longBlockList, signal);
  const sorted = found.toSorted((a, b) =>
    a.block_header.raw_data.number - b.block_header.raw_data.number
  );
  sorted.forEach((answer, i) => requireBlock(answer, from + i, context, node));
  return sorted;
}
