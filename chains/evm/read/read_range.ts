/**
 * Reads blocks with their receipts from one node.
 *
 * Receipts are asked for by the hash of their block: by its height, two nodes behind one address would answer
 * head and receipts of different blocks.
 *
 * @module
 */

import { type BlockAnswer, ChainUnavailable, type Finality } from "../../chain.ts";
import { type BlockRange, type Reading, readInSteps } from "../../nodes/block_range.ts";
import type { ChainNode } from "../../nodes/node.ts";
import { NotServed } from "../../nodes/node_failures.ts";
import {
  type HeadAnswer,
  headOrNothingSchema,
  type ReceiptAnswer,
  receiptOrNothingSchema,
  receiptsShape,
} from "./answers.ts";
import { isEmpty, parseBlock } from "./parse_block.ts";
import { type EvmSource, headCall, requireHeight, rpc } from "./source.ts";

const BLOCK_RECEIPTS = "eth_getBlockReceipts";
/** Receipts in one request, from nodes that do not give those of a block together. */
const RECEIPTS_AT_ONCE = 50;

/**
 * Reads the blocks of a range in order; see {@linkcode readInSteps}.
 *
 * @throws {ChainUnavailable} when not even the first can be read
 */
export async function readRange(
  node: ChainNode,
  range: BlockRange,
  source: EvmSource,
  signal: AbortSignal,
): Promise<Reading> {
  return await readInSteps(range, {
    heads: (wanted) => headsOf(node, wanted, source, signal),
    complete: (head) => completeBlock(node, head, range.finality, source, signal),
    one: (height) => readOne(node, height, range.finality, source, signal),
  });
}

/** The last height of a range that a node has in the view. */
async function lastIn(
  node: ChainNode,
  { to, finality }: Pick<BlockRange, "to" | "finality">,
  { finals }: EvmSource,
  signal: AbortSignal,
): Promise<number> {
  if (finality === "head") return to;
  return Math.min(to, (await finals.upTo(node, to, signal)).number);
}

async function headsOf(
  node: ChainNode,
  range: BlockRange,
  source: EvmSource,
  signal: AbortSignal,
): Promise<readonly HeadAnswer[]> {
  const { from } = range;
  const last = await lastIn(node, range, source, signal);
  const calls = Array.from({ length: last - from + 1 }, (_, i) => headCall(from + i));
  const answers = await rpc.askAll(node, calls, headOrNothingSchema, signal);
  const heads: HeadAnswer[] = [];
  for (const [i, answer] of answers.entries()) {
    if (answer instanceof ChainUnavailable) throw answer;
    if (answer === null) break;
    requireHeight(answer, from + i, node);
    heads.push(answer);
  }
  return heads;
}

/** One block; its head and its receipts come from the same node. */
export async function readOne(
  node: ChainNode,
  height: number,
  finality: Finality,
  source: EvmSource,
  signal: AbortSignal,
): Promise<BlockAnswer> {
  if (await lastIn(node, { to: height, finality }, source, signal) < height) {
    return { kind: "missing", height };
  }
  const head = await rpc.ask(node, headCall(height), headOrNothingSchema, signal);
  if (head === null) return { kind: "missing", height };
  requireHeight(head, height, node);
  return await completeBlock(node, head, finality, source, signal);
}

/** The block of a head, with the receipts that prove to be all of it. */
export async function completeBlock(
  node: ChainNode,
  head: HeadAnswer,
  finality: Finality,
  { finals, context }: EvmSource,
  signal: AbortSignal,
): Promise<BlockAnswer> {
  const { number: height } = head;
  const incomplete = (reason: string): BlockAnswer => ({ kind: "incomplete", height, reason });
  if (finality === "solid") {
    const { number, hash } = await finals.upTo(node, height, signal);
    if (number === height && hash !== head.hash) {
      return incomplete(`the node has named another final block: ${hash}`);
    }
  }
  const receipts = isEmpty(head) ? [] : await receiptsOf(node, head, signal);
  if (receipts === null) return incomplete("the node does not have its receipts");
  try {
    return parseBlock(head, receipts, context);
  } catch (error) {
    // a block that contradicts itself is not whole; the good ones before it are returned all the same
    if (!(error instanceof ChainUnavailable)) throw error;
    return incomplete(error.message);
  }
}

/** The receipts of a block; null where the node does not have (all of) them. */
async function receiptsOf(
  node: ChainNode,
  { hash, transactions }: HeadAnswer,
  signal: AbortSignal,
): Promise<readonly ReceiptAnswer[] | null> {
  try {
    const call = { method: BLOCK_RECEIPTS, params: [hash] };
    return await rpc.ask(node, call, receiptsShape, signal);
  } catch (error) {
    if (!(error instanceof NotServed)) throw error;
  }
  const receipts: ReceiptAnswer[] = [];
  for (let i = 0; i < transactions.length; i += RECEIPTS_AT_ONCE) {
    const calls = transactions.slice(i, i + RECEIPTS_AT_ONCE).map((txid) => ({
      method: "eth_getTransactionReceipt",
      params: [txid],
    }));
    for (const answer of await rpc.askAll(node, calls, receiptOrNothingSchema, signal)) {
      if (answer instanceof ChainUnavailable) throw answer;
      if (answer === null) return null;
      receipts.push(answer);
    }
  }
  return receipts;
}
