/**
 * Reads one transaction. A receipt alone proves nothing: the whole block that it names is read, whose
 * receipts have to have its root, and the transaction is taken from there.
 *
 * @module
 */

import { z } from "zod";
import {
  ChainUnavailable,
  type Checkpoint,
  type Finality,
  type TransactionLookup,
} from "../../chain.ts";
import type { SentBy } from "../../lane.ts";
import type { RpcCall } from "../../nodes/json_rpc.ts";
import type { ChainNode } from "../../nodes/node.ts";
import { CallFailed, NotServed } from "../../nodes/node_failures.ts";
import { eventAddress } from "../address.ts";
import { signedBy } from "../signed_by.ts";
import { evmTransactionId } from "../transaction_id.ts";
import { bytesSchema, hashSchema, headOrNothingSchema, wholeSchema } from "./answers.ts";
import { completeBlock } from "./read_range.ts";
import { type EvmSource, headCall, requireBlock, rpc } from "./source.ts";
import { bytesOfFields } from "./transaction_bytes.ts";

/** Place of a transaction in a block, or null where it is in none. */
const placeSchema = z.object({ transactionHash: hashSchema, blockNumber: wholeSchema }).nullable();
/** A transaction that a node knows, with all its fields; in no block it has the block's hash null. */
const knownSchema = z.looseObject({
  hash: hashSchema,
  blockHash: hashSchema.nullish(),
}).nullable();

/** Rank of an answer by what it tells. */
const WORTH = { missing: 0, incomplete: 1, found: 2 } as const;

/**
 * One transaction. A node that does not know it, or does not have its block, may lag: the others are asked.
 *
 * @param text 64 hex digits of either case, `0x` before them or not; anything else names none
 * @param checkpoint block that the node which answers must have
 * @throws {ChainUnavailable} when no node can be read, or one contradicts itself
 */
export async function readTransaction(
  source: EvmSource,
  text: string,
  finality: Finality,
  signal?: AbortSignal,
  checkpoint?: Checkpoint,
): Promise<TransactionLookup> {
  const txid = evmTransactionId(text);
  if (txid === null) return { kind: "missing", txid: text };
  const lookUp = { ...source, isLookUp: true };
  return await source.pool.read(
    (node, bound) => readFromOne(node, txid, finality, lookUp, bound),
    {
      signal,
      checkpoint,
      timeFactor: source.long.tries.mostTimeFactor,
      isEnough: (answer) => answer.kind === "found",
      better: (kept, found) => WORTH[found.kind] > WORTH[kept.kind] ? found : kept,
    },
  );
}

async function readFromOne(
  node: ChainNode,
  txid: string,
  finality: Finality,
  source: EvmSource,
  signal: AbortSignal,
): Promise<TransactionLookup> {
  const incomplete = (reason: string): TransactionLookup => ({ kind: "incomplete", txid, reason });
  const call = { method: "eth_getTransactionReceipt", params: [txid] };
  const place = await placeOf(node, call, source, signal);
  if (place === null) {
    const known = await knownTransaction(node, txid, signal);
    return known === null ? { kind: "missing", txid } : incomplete("it is in no block yet");
  }
  requireOwn(place.transactionHash, txid, node);
  const { blockNumber: height } = place;
  if (finality === "solid" && (await source.finals.upTo(node, height, signal)).number < height) {
    return { kind: "missing", txid };
  }
  const head = await rpc.ask(node, headCall(height), headOrNothingSchema, signal);
  if (head === null) return incomplete("the node does not have its block");
  requireBlock(head, height, source.context, node);
  const answer = await completeBlock(node, head, finality, source, signal);
  if (answer.kind !== "block") {
    return incomplete(answer.kind === "incomplete" ? answer.reason : "its block is not there");
  }
  const { block } = answer;
  const included = block.transactions.find((one) => one.txid === txid);
  if (included === undefined) return incomplete(`block ${height} is without it by now`);
  const transfers = block.transfers.filter((one) => one.txid === txid);
  return { kind: "found", transaction: { ...included, height, time: block.time, transfers } };
}

/** The place of a transaction by its receipt, which may be long. */
async function placeOf(node: ChainNode, call: RpcCall, { long }: EvmSource, signal: AbortSignal) {
  using read = long.begin(0, "", Infinity);
  return await rpc.ask(node, call, placeSchema, signal, read);
}

async function knownTransaction(node: ChainNode, txid: string, signal: AbortSignal) {
  const call = { method: "eth_getTransactionByHash", params: [txid] };
  const known = await rpc.ask(node, call, knownSchema, signal);
  if (known !== null) requireOwn(known.hash, txid, node);
  return known;
}

/** @throws {ChainUnavailable} when a node answered with another transaction than it was asked for */
function requireOwn(found: string, txid: string, node: ChainNode): void {
  if (found === txid) return;
  throw new ChainUnavailable(
    "malformed",
    `Cannot read transaction ${txid} as the node answered another one: ${node.label}`,
  );
}

/** The nodes of a network with the number of its chain. */
export interface NumberedSource extends EvmSource {
  readonly chainId: number;
}

/**
 * Sender and nonce of a transaction that is in a block; see `LanePort.sent`.
 *
 * @throws {ChainUnavailable} when no node can be read, or none shows the bytes that prove it
 */
export async function readSender(
  { pool, chainId }: NumberedSource,
  text: string,
  signal?: AbortSignal,
  checkpoint?: Checkpoint,
): Promise<SentBy | null> {
  const txid = evmTransactionId(text);
  if (txid === null) return null;
  return await pool.read(async (node, bound) => {
    const known = await knownTransaction(node, txid, bound);
    if (known === null || known.blockHash === null || known.blockHash === undefined) return null;
    // the fields are there already; a node may show them so that they make no transaction
    const proven = provenBy(bytesOfFields(known), txid, chainId) ??
      provenBy(await rawBytes(node, txid, bound), txid, chainId);
    if (proven !== null) return proven;
    throw new CallFailed(
      "malformed",
      `Cannot prove who sent ${txid} as the node shows no bytes of it: ${node.label}`,
      `bytes of ${txid}`,
      true,
    );
  }, { signal, checkpoint, isEnough: (found) => found !== null });
}

/** The bytes of a transaction as the node has kept them; null where it does not serve that, or has none. */
async function rawBytes(node: ChainNode, txid: string, signal: AbortSignal) {
  const call = { method: "eth_getRawTransactionByHash", params: [txid] };
  try {
    return await rpc.ask(node, call, bytesSchema.nullable(), signal);
  } catch (error) {
    if (error instanceof NotServed) return null;
    throw error;
  }
}

/** Sender and nonce of a transaction by its bytes; null: they are not its own, or not of this chain. */
function provenBy(bytes: string | null, txid: string, chainId: number): SentBy | null {
  if (bytes === null) return null;
  const own = bytes.toLowerCase();
  try {
    const { sender, nonce, ...found } = signedBy(own, chainId);
    return found.txid === txid ? { eventFrom: eventAddress(sender), nonce, bytes: own } : null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
