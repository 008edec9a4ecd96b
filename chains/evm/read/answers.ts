/**
 * Shapes of a node's answers, after the public specification of Ethereum's execution API (JSON-RPC). A node
 * is not trusted: a value of another shape, or out of bounds, makes the whole answer malformed. Only
 * fields that are used are listed.
 *
 * @module
 */

import { z } from "zod";
import type { AnswerShape } from "../../nodes/json_rpc.ts";
import { listSchema } from "../../nodes/list_schema.ts";
import { isObject, listOf } from "../../nodes/read_by_hand.ts";
import { hasOwnHash } from "./header_hash.ts";

const HASH = /^0x[0-9a-f]{64}$/;
/** Up to 52 bits, which are exact in a number. */
const WHOLE = /^0x[0-9a-f]{1,13}$/i;
/** Any quantity of the machine's words. */
const QUANTITY = /^0x[0-9a-f]{1,64}$/i;

/** A hash: `0x` and 64 lower-case digits. */
export const hashSchema = z.string().regex(HASH);
/** A quantity as a number. */
export const wholeSchema = z.string().regex(WHOLE).transform((text) => Number(text));
/** A quantity as a bigint. */
export const quantitySchema = z.string().regex(QUANTITY).transform((text) => BigInt(text));
/** Bytes as hexadecimal. */
export const bytesSchema = z.string().regex(/^0x([0-9a-f]{2})*$/i).max(1_000_000);

const headFields = z.object({
  number: wholeSchema,
  hash: hashSchema,
  parentHash: hashSchema,
  /** Seconds. */
  timestamp: wholeSchema,
  gasUsed: wholeSchema,
  /** Wei for a unit of gas that all of the block paid; absent before EIP-1559. */
  baseFeePerGas: quantitySchema.default(0n),
  receiptsRoot: hashSchema,
  /** Their ids, in order. */
  transactions: listSchema(hashSchema),
  /** True where its hash is that of its fields: then they are the same at every node that names the hash. */
  isBound: z.boolean(),
});
/** A block without its transactions' contents. */
export const headSchema = z.preprocess(
  (json) => isObject(json) ? { ...json, isBound: hasOwnHash(json) } : json,
  headFields,
);
/** See {@linkcode headSchema}. */
export type HeadAnswer = z.infer<typeof headSchema>;

/** Head of a block, or null from a node that does not have it. */
export const headOrNothingSchema = headSchema.nullable();

/** Any case: which contract it is, is compared in lower case. */
const ADDRESS = /^0x[0-9a-f]{40}$/i;

const hex = z.string().startsWith("0x").refine((text) => text.length % 2 === 0, "odd digits");
const logSchema = z.object({
  address: z.string().regex(ADDRESS),
  topics: listSchema(hashSchema, 4),
  data: hex,
  /** Position among all logs of the block. */
  logIndex: wholeSchema,
});
/** An event log. */
export type LogAnswer = z.infer<typeof logSchema>;

const receiptSchema = z.object({
  transactionHash: hashSchema,
  blockHash: hashSchema,
  from: z.string().regex(ADDRESS),
  /** Absent at nodes from before EIP-2718. */
  type: wholeSchema.default(0),
  /** Null in blocks before Byzantium (EIP-658): whether they failed is not said. */
  status: wholeSchema.refine((value) => value <= 1, "neither 0 nor 1").nullable().default(null),
  /** State after a transaction before Byzantium, in the place of its status; absent since. */
  root: hashSchema.optional().catch(undefined),
  cumulativeGasUsed: wholeSchema,
  gasUsed: wholeSchema,
  /** Wei for a unit of gas. */
  effectiveGasPrice: quantitySchema,
  logsBloom: hex.length(514),
  logs: listSchema(logSchema),
});
/** Receipt of a transaction. */
export type ReceiptAnswer = z.infer<typeof receiptSchema>;

/** Receipts of a block, or null where the node does not have that block. */
export const receiptsSchema = listSchema(receiptSchema).nullable();

/**
 * Receipts of a block whose logs were taken out and read apart: each has the number of its list in their place.
 *
 * @param lists the lists by their numbers
 */
export function cutReceiptsSchema<Logs>(lists: readonly Logs[]) {
  const number = z.int().min(0).max(lists.length - 1);
  const logs = z.tuple([number]).transform(([place]) => lists[place] as Logs);
  return listSchema(receiptSchema.extend({ logs })).nullable();
}

/** Answer of `eth_feeHistory`: one base fee more than blocks, the last is that of the next block. */
export const feeHistorySchema = z.object({
  baseFeePerGas: z.array(quantitySchema).min(1),
  reward: listSchema(listSchema(quantitySchema)).default([]),
});

// The root of receipts is made of bytes. A text that is other digits than it says, or that is compared in
// another case, would have the right root and be taken for another contract or event: which one a log
// is of is held to its digits here, its amount where it is read.

// Receipts are hundreds of kilobytes long and are read by hand: a schema looks at everything through
// general machinery. What is not recognised is left to the schema, which says what is wrong. A test
// holds this to the schema.

/** Receipts of a block. */
export const receiptsShape: AnswerShape<ReceiptAnswer[] | null> = {
  safeParse: (json) => {
    const receipts = listOf(json, readReceipt);
    return receipts === null ? receiptsSchema.safeParse(json) : { success: true, data: receipts };
  },
};

function isHash(value: unknown): value is string {
  return typeof value === "string" && HASH.test(value);
}

function isWhole(value: unknown): value is string {
  return typeof value === "string" && WHOLE.test(value);
}

function isHex(value: unknown): value is string {
  return typeof value === "string" && value.length % 2 === 0 && value.startsWith("0x");
}

function isAddress(value: unknown): value is string {
  return typeof value === "string" && ADDRESS.test(value);
}

function readReceipt(json: unknown): ReceiptAnswer | null {
  if (!isObject(json)) return null;
  const { transactionHash, blockHash, from, type, status, cumulativeGasUsed, gasUsed } = json;
  const { effectiveGasPrice, logsBloom, logs: list } = json;
  if (!isHash(transactionHash) || !isHash(blockHash) || !isAddress(from)) return null;
  if (!isWhole(type) || !isWhole(cumulativeGasUsed) || !isWhole(gasUsed)) return null;
  if (status !== "0x0" && status !== "0x1") return null;
  if (typeof effectiveGasPrice !== "string" || !QUANTITY.test(effectiveGasPrice)) return null;
  if (!isHex(logsBloom) || logsBloom.length !== 514) return null;
  const logs = listOf(list, readLog);
  if (logs === null) return null;
  return {
    transactionHash,
    blockHash,
    from,
    type: Number(type),
    status: Number(status),
    cumulativeGasUsed: Number(cumulativeGasUsed),
    gasUsed: Number(gasUsed),
    effectiveGasPrice: BigInt(effectiveGasPrice),
    logsBloom,
    logs,
  };
}

/** A log; null for what is none. */
export function readLog(json: unknown): LogAnswer | null {
  if (!isObject(json)) return null;
  const { address, topics, data, logIndex } = json;
  if (!isAddress(address)) return null;
  if (!Array.isArray(topics) || topics.length > 4 || !topics.every(isHash)) return null;
  if (!isHex(data) || !isWhole(logIndex)) return null;
  return { address, topics, data, logIndex: Number(logIndex) };
}
