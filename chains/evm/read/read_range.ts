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
import { CallFailed, NotServed } from "../../nodes/node_failures.ts";
import { type HeadAnswer, headOrNothingSchema } from "./answers.ts";
import type { LongRead } from "./long_reads.ts";
import { isEmpty, parseBlock, parseLongBlock } from "./parse_block.ts";
import type { ReadReceipt } from "./receipt_logs.ts";
import { type EvmSource, headCall, requireBlock, rpc } from "./source.ts";

const BLOCK_RECEIPTS = "eth_getBlockReceipts";

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
  // of a final block a node is asked both ways: by its height it has to be the one that it named
  const named = range.finality === "head" ? source.named.at(node, last) : null;
  const length = last - from + (named === null ? 1 : 0);
  const calls = Array.from({ length }, (_, i) => headCall(from + i));
  const answers = length === 0 ? [] : await rpc.askAll(node, calls, headOrNothingSchema, signal);
  const heads: HeadAnswer[] = [];
  for (const [i, answer] of answers.entries()) {
    if (answer instanceof ChainUnavailable) throw answer;
    if (answer === null) break;
    requireBlock(answer, from + i, source.context, node);
    heads.push(answer);
  }
  if (named !== null && heads.length === length) heads.push(named);
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
  requireBlock(head, height, source.context, node);
  return await completeBlock(node, head, finality, source, signal);
}

/** The block of a head, with the receipts that prove to be all of it. */
export async function completeBlock(
  node: ChainNode,
  head: HeadAnswer,
  finality: Finality,
  { finals, context, long, isLookUp = false }: EvmSource,
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
  if (isEmpty(head)) return parseBlock(head, [], context);
  using read = long.begin(height, head.hash, isLookUp ? Infinity : height);
  let receipts;
  try {
    receipts = await receiptsOf(node, head, read, signal);
  } catch (error) {
    if (!(error instanceof ChainUnavailable) || !read.failed(node, error, signal)) throw error;
    return incomplete(error.message);
  }
  if (receipts === null) return incomplete("the node does not have its receipts");
  try {
    const answer = await parseLongBlock(head, receipts, context);
    read.proved(answer.kind === "block");
    return answer;
  } catch (error) {
    // a block that contradicts itself is not whole; the good ones before it are returned all the same
    if (!(error instanceof ChainUnavailable)) throw error;
    read.proved(false);
    return incomplete(error.message);
  }
}

/** The receipts of a block; null where the node does not have (all of) them. */
async function receiptsOf(
  node: ChainNode,
  head: HeadAnswer,
  read: LongRead,
  signal: AbortSignal,
): Promise<readonly ReadReceipt[] | null> {
  if (read.mayBeTogether) {
    try {
      const call = { method: BLOCK_RECEIPTS, params: [head.hash] };
      return await rpc.ask(node, call, read.receipts, signal, read);
    } catch (error) {
      if (!isNotTogether(error)) throw error;
    }
  }
  return await receiptsByTransaction(node, head, read, signal);
}

/** True where a node does not serve the call, or says that it cannot: it may be too much for it. */
function isNotTogether(error: unknown): boolean {
  return error instanceof NotServed ||
    (error instanceof CallFailed && error.category === "server-error" && !error.isRefusal);
}

/** The receipts of a block, asked for by its transactions. */
async function receiptsByTransaction(
  node: ChainNode,
  { transactions }: HeadAnswer,
  read: LongRead,
  signal: AbortSignal,
): Promise<readonly ReadReceipt[] | null> {
  const { kept, atOnce } = read;
  const missing = transactions.filter((txid) => !kept.has(txid));
  for (let i = 0; i < missing.length; i += atOnce) {
    const asked = missing.slice(i, i + atOnce);
    const calls = asked.map((txid) => ({ method: "eth_getTransactionReceipt", params: [txid] }));
    const answers = await rpc.askAll(node, calls, read.receipt, signal, read);
    for (const [k, answer] of answers.entries()) {
      if (answer instanceof ChainUnavailable) throw answer;
      if (answer === null) return null;
      kept.set(asked[k] as string, answer);
    }
  }
  return transactions.flatMap((txid) => kept.get(txid) ?? []);
}
