/**
 * Reads blocks with their receipts from one node.
 *
 * @module
 */

import { type BlockAnswer, ChainUnavailable, type Finality } from "../../chain.ts";
import {
  blockListShape,
  blockOrNothingSchema,
  type FullBlockAnswer,
  type ReceiptAnswer,
  receiptsShape,
} from "./answers.ts";
import type { ChainNode } from "../../nodes/node.ts";
import { readFrom } from "./read_from.ts";
import { parseBlock, type ParseContext } from "./parse_block.ts";

/** Receipt calls under way at once within a range. */
const RECEIPT_CALLS = 4;

/** Blocks that are asked for together. */
export interface BlockRange {
  readonly from: number;
  /** The last one. */
  readonly to: number;
  readonly finality: Finality;
}

/** Blocks that were read of a range, and the failure that ended it before its end. */
export interface Reading {
  readonly answers: readonly BlockAnswer[];
  readonly failure: ChainUnavailable | null;
}

/**
 * Reads the blocks of a range in order, up to the first that the node does not have whole, or at which
 * the node failed.
 *
 * @throws {ChainUnavailable} when not even the first can be read
 */
export async function readRange(
  node: ChainNode,
  range: BlockRange,
  context: ParseContext,
  signal: AbortSignal,
): Promise<Reading> {
  try {
    return await rangeOf(node, range, context, signal);
  } catch (error) {
    if (!isMalformed(error) || range.from === range.to) throw error;
    return await oneByOne(node, range, context, signal);
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

/** True if an answer is worth asking no further node. */
export function isWhole(answer: BlockAnswer): boolean {
  return answer.kind === "block";
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
  const answer = await readFrom(node, request, blockOrNothingSchema, signal);
  if (answer === null) return { kind: "missing", height };
  requireHeight(answer, height, node);
  return await completeBlock(node, answer, finality, context, signal);
}

/** @throws {ChainUnavailable} when the node answered with another block than it was asked for */
function requireHeight(answer: FullBlockAnswer, height: number, node: ChainNode): void {
  const { number } = answer.block_header.raw_data;
  if (number === height) return;
  throw new ChainUnavailable(
    "malformed",
    `Cannot read block ${height} as the node answered block ${number}: ${node.label}`,
  );
}

async function rangeOf(
  node: ChainNode,
  { from, to, finality }: BlockRange,
  context: ParseContext,
  signal: AbortSignal,
): Promise<Reading> {
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
    const read = await Promise.allSettled(
      group.map((answer) => completeBlock(node, answer, finality, context, signal)),
    );
    for (const [k, one] of read.entries()) {
      if (one.status === "fulfilled") answers.push(one.value);
      else if (answers.length === 0) throw one.reason;
      else if (isMalformed(one.reason)) {
        answers.push({ kind: "incomplete", height: from + i + k, reason: one.reason.message });
        return { answers, failure: null };
      } else if (one.reason instanceof ChainUnavailable) return { answers, failure: one.reason };
      else throw one.reason;
    }
  }
  const height = from + answers.length;
  if (answers.every(isWhole) && height <= to) answers.push({ kind: "missing", height });
  return { answers, failure: null };
}

/**
 * The same block by block, where one of them makes the whole answer malformed: the others must not
 * wait for it.
 *
 * @throws {ChainUnavailable} when not even the first can be read; then the node may be at fault
 */
async function oneByOne(
  node: ChainNode,
  { from, to, finality }: BlockRange,
  context: ParseContext,
  signal: AbortSignal,
): Promise<Reading> {
  const answers: BlockAnswer[] = [];
  for (let height = from; height <= to && answers.every(isWhole); height++) {
    try {
      answers.push(await readOne(node, height, finality, context, signal));
    } catch (error) {
      if (!(error instanceof ChainUnavailable) || height === from) throw error;
      if (!isMalformed(error)) return { answers, failure: error };
      answers.push({ kind: "incomplete", height, reason: error.message });
    }
  }
  return { answers, failure: null };
}

function isMalformed(error: unknown): error is ChainUnavailable {
  return error instanceof ChainUnavailable && error.category === "malformed";
}
