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
} from "../../chain.ts";
import { MOST_AHEAD_MS, requireTime } from "../../nodes/believed_nodes.ts";
import type { ChainNode } from "../../nodes/node.ts";
import type { NodePool } from "../../nodes/node_pool.ts";
import { tronTransactionId } from "../transaction_id.ts";
import { readFrom } from "./read_from.ts";
import { longReceipt, longTransaction } from "./long_answers.ts";
import { type ParseContext, parseTransaction } from "./parse_block.ts";
import { prefixOf } from "./read_range.ts";

/** Rank of an answer by what it tells. */
const WORTH = { missing: 0, incomplete: 1, found: 2 } as const;

/**
 * One transaction. A node that does not know it, or not its receipt, may lag: the others are asked.
 *
 * @param text 64 hex digits of either case, `0x` before them or not; anything else names none
 * @param context its running totals are left alone: a block's own reading counts them
 * @param checkpoint block that the node which answers must have
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
  return await pool.read((node, bound) => readFromOne(node, txid, finality, context, bound), {
    signal,
    checkpoint,
    isEnough: (answer) => answer.kind === "found",
    better: (kept, found) => WORTH[found.kind] > WORTH[kept.kind] ? found : kept,
  });
}

async function readFromOne(
  node: ChainNode,
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
    longTransaction,
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
    longReceipt(context.tokens),
    signal,
  );
  if (receipt === null) return { kind: "incomplete", txid, reason: "it has no receipt yet" };
  const found = parseTransaction(transaction, receipt, context);
  requireTime(found, context.mostAheadMs ?? MOST_AHEAD_MS, node.label);
  return { kind: "found", transaction: found };
}
