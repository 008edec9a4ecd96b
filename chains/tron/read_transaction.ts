/**
 * Reads one transaction with its receipt, both from the same node.
 *
 * @module
 */

import {
  ChainUnavailable,
  type Checkpoint,
  type Finality,
  type TransactionLookup,
} from "../chain.ts";
import { receiptOrNothingSchema, transactionOrNothingSchema } from "./answers.ts";
import type { TronNode } from "./node.ts";
import { type NodePool, readFrom } from "./node_pool.ts";
import { type ParseContext, parseTransaction } from "./parse_block.ts";
import { prefixOf } from "./read_range.ts";
import { readAtCheckpoint } from "./read_at_checkpoint.ts";
import { tronTransactionId } from "./transaction_id.ts";

/** How much an answer tells. */
const WORTH = { missing: 0, incomplete: 1, found: 2 } as const;

/**
 * One transaction. A node that does not know it, or not its receipt, may lag: the others are asked.
 *
 * @param text 64 hex digits of either case, `0x` before them or not; anything else names none
 * @param context its running totals are left alone: a block's own reading counts them
 * @param checkpoint what the node that answers must have
 * @throws {ChainUnavailable} when no node can be read, or one contradicts itself
 */
export async function readTransaction(
  pool: NodePool,
  text: string,
  finality: Finality,
  context: ParseContext,
  signal?: AbortSignal,
  checkpoint?: Checkpoint,
): Promise<TransactionLookup> {
  const txid = tronTransactionId(text);
  if (txid === null) return { kind: "missing", txid: text };
  const uncounted = { ...context, ignored: { zeroValue: 0, otherContract: 0 } };
  return await readAtCheckpoint(pool, checkpoint, {
    attempt: (node, bound) => readFromOne(node, txid, finality, uncounted, bound),
    isEnough: (answer) => answer.kind === "found",
    better: (kept, found) => WORTH[found.kind] > WORTH[kept.kind] ? found : kept,
  }, signal);
}

async function readFromOne(
  node: TronNode,
  txid: string,
  finality: Finality,
  context: ParseContext,
  signal: AbortSignal,
): Promise<TransactionLookup> {
  const prefix = prefixOf(finality);
  const body = { value: txid };
  const transaction = await readFrom(
    node,
    { path: `${prefix}/gettransactionbyid`, body },
    transactionOrNothingSchema,
    signal,
  );
  if (transaction === null) return { kind: "missing", txid };
  if (transaction.txID !== txid) {
    throw new ChainUnavailable(
      "malformed",
      `Cannot read transaction ${txid} as the node answered another one: ${node.label}`,
    );
  }
  const receipt = await readFrom(
    node,
    { path: `${prefix}/gettransactioninfobyid`, body },
    receiptOrNothingSchema,
    signal,
  );
  if (receipt === null) return { kind: "incomplete", txid, reason: "it has no receipt yet" };
  return { kind: "found", transaction: parseTransaction(transaction, receipt, context) };
}
