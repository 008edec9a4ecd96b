/**
 * Shapes of a full node's answers. A node is not trusted: a value of another shape, or
 * out of bounds, makes the whole answer malformed. Only fields that are used are listed.
 *
 * Shapes after the public documentation of java-tron's HTTP API; protobuf leaves out zero values,
 * so that numbers, flags and lists may be absent.
 *
 * @module
 */

import { z } from "zod";
import type { AnswerShape } from "../../nodes/json_rpc.ts";
import { listSchema } from "../../nodes/list_schema.ts";
import { isObject, listOf } from "../../nodes/read_by_hand.ts";

const hash = z.string().regex(/^[0-9a-f]{64}$/);
/** Integers above 2^53 cannot be trusted after JSON.parse, so `int()` refuses them. */
const whole = z.int().nonnegative();

/** Head of a block. */
export const blockHeadSchema = z.object({
  blockID: hash,
  block_header: z.object({
    raw_data: z.object({
      // Absent in the genesis block.
      number: whole.default(0),
      parentHash: hash,
      timestamp: whole.default(0),
    }),
  }),
});
/** A block without its transactions. */
export type BlockHeadAnswer = z.infer<typeof blockHeadSchema>;

/** Head of a block, or `{}` from a node that does not have it. */
export const headOrNothingSchema = z.union([
  blockHeadSchema,
  z.strictObject({}).transform(() => null),
]);

/** A transaction as it stands in a block. */
export const transactionSchema = z.object({
  txID: hash,
  raw_data: z.object({ expiration: whole.optional() }),
  ret: listSchema(z.object({ contractRet: z.string().max(64).optional() })).optional(),
});
/** A transaction as it stands in a block. */
export type TransactionAnswer = z.infer<typeof transactionSchema>;

/** A transaction by its id, or `{}` where the node does not have it. */
export const transactionOrNothingSchema = z.union([
  transactionSchema,
  z.strictObject({}).transform(() => null),
]);

/** A block with its transactions; the list is absent when there are none. */
export const fullBlockSchema = blockHeadSchema.extend({
  transactions: listSchema(transactionSchema).default([]),
});
/** A whole block. */
export type FullBlockAnswer = z.infer<typeof fullBlockSchema>;

/** A block, or `{}` where the node does not have it. */
export const blockOrNothingSchema = z.union([
  fullBlockSchema,
  z.strictObject({}).transform(() => null),
]);

/** Blocks of a range; `block` is absent when there are none. */
export const blockListSchema = z.object({ block: listSchema(fullBlockSchema).default([]) });
/** Blocks of a range. */
export type BlockListAnswer = z.infer<typeof blockListSchema>;

const logSchema = z.object({
  address: z.string().max(64),
  topics: listSchema(z.string().max(64), 4).default([]),
  data: z.string().default(""),
});
/** An event log; `address` is 40 hex digits without `41`. */
export type LogAnswer = z.infer<typeof logSchema>;

/** Receipt of a transaction. */
export const receiptSchema = z.object({
  // Of use only where it is the id of a transaction.
  id: z.string().length(64),
  fee: whole.default(0),
  blockNumber: whole,
  blockTimeStamp: whole.default(0),
  receipt: z.object({ result: z.string().max(64).optional() }).default({}),
  result: z.string().max(64).optional(),
  log: listSchema(logSchema).default([]),
});
/** Receipt of a transaction. */
export type ReceiptAnswer = z.infer<typeof receiptSchema>;

/** A transaction's receipt by its id, or `{}` where the node does not have it. */
export const receiptOrNothingSchema = z.union([
  receiptSchema,
  z.strictObject({}).transform(() => null),
]);

/** Receipts of a block; an unknown height may answer `{}`. */
export const receiptsSchema = z.union([
  listSchema(receiptSchema),
  z.strictObject({}).transform(() => []),
]);

/** Answer of `triggerconstantcontract`. */
export const constantCallSchema = z.object({
  result: z.object({
    result: z.boolean().default(false),
    code: z.string().max(64).optional(),
    message: z.string().max(4096).optional(),
  }),
  energy_used: whole.default(0),
  constant_result: listSchema(z.string().regex(/^([0-9a-f]{2})*$/i).max(4096)).default([]),
  /** Events of the simulation; absent without any, and at nodes that give none. */
  logs: listSchema(logSchema).default([]),
  transaction: z.object({
    ret: listSchema(z.object({ ret: z.string().max(64).optional() })).optional(),
    // the newest block of the state that the call was tried on
    raw_data: z.object({
      ref_block_bytes: z.string().regex(/^[0-9a-f]{4}$/).optional(),
      ref_block_hash: z.string().regex(/^[0-9a-f]{16}$/).optional(),
    }).optional().catch(undefined),
  }).optional(),
});
/** A simulated contract call. */
export type ConstantCallAnswer = z.infer<typeof constantCallSchema>;

/** An account; `{}` when it was never activated. */
export const accountSchema = z.object({
  address: z.string().max(64).optional(),
  balance: whole.default(0),
});
/** See {@linkcode accountSchema}. */
export type AccountAnswer = z.infer<typeof accountSchema>;

/** Answer of `getchainparameters`; a parameter that is zero has no `value`. */
export const chainParametersSchema = z.object({
  chainParameter: listSchema(z.object({ key: z.string().max(128), value: z.int().default(0) })),
});

/** Energy and bandwidth of an account; `{}` when it was never activated. */
export const accountResourceSchema = z.object({
  freeNetLimit: whole.default(0),
  freeNetUsed: whole.default(0),
  NetLimit: whole.default(0),
  NetUsed: whole.default(0),
  EnergyLimit: whole.default(0),
  EnergyUsed: whole.default(0),
  /** Energy that all stake of the network shares, and that stake in TRX. */
  TotalEnergyLimit: whole.default(0),
  TotalEnergyWeight: whole.default(0),
});
/** See {@linkcode accountResourceSchema}. */
export type AccountResourceAnswer = z.infer<typeof accountResourceSchema>;

/** Answer of `getcandelegatedmaxsize`, sun. */
export const canDelegateSchema = z.object({ max_size: whole.default(0) });

/** Answer of `getdelegatedresourcev2`; `{}` where nothing is delegated. */
export const delegatedResourceSchema = z.object({
  delegatedResource: listSchema(z.object({ frozen_balance_for_energy: whole.default(0) })).default(
    [],
  ),
});

// The two answers that are hundreds of kilobytes long are read by hand: a schema looks at everything
// through general machinery, which took a third of the time that a busy block costs. What is read
// here is kept in objects of its own, so that the large answer can be forgotten at once; what is not
// recognised is left to the schema, which says what is wrong. A test holds these to the schema.

/** Blocks of a range. */
export const blockListShape: AnswerShape<BlockListAnswer> = {
  safeParse: (json) => {
    const block = isObject(json) ? listOf(json["block"], readBlock) : null;
    return block === null ? blockListSchema.safeParse(json) : { success: true, data: { block } };
  },
};

/** Receipts of a block. */
export const receiptsShape: AnswerShape<ReceiptAnswer[]> = {
  safeParse: (json) => {
    const receipts = listOf(json, readReceipt);
    return receipts === null ? receiptsSchema.safeParse(json) : { success: true, data: receipts };
  },
};

function isWhole(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && Number.isSafeInteger(value);
}

function isWord(value: unknown): value is string {
  return typeof value === "string" && value.length <= 64;
}

const HASH = /^[0-9a-f]{64}$/;

function isHash(value: unknown): value is string {
  return typeof value === "string" && HASH.test(value);
}

/** A block with its transactions; null for what is none, or has another shape. */
export function readBlock(json: unknown): FullBlockAnswer | null {
  if (!isObject(json)) return null;
  const { blockID, block_header: header, transactions: list = [] } = json;
  const raw = isObject(header) ? header["raw_data"] : null;
  if (!isHash(blockID) || !isObject(raw)) return null;
  const { number, parentHash, timestamp } = raw;
  if (!isWhole(number) || !isHash(parentHash) || !isWhole(timestamp)) return null;
  const transactions = listOf(list, readTransaction);
  if (transactions === null) return null;
  return { blockID, block_header: { raw_data: { number, parentHash, timestamp } }, transactions };
}

/** A transaction with its result; null for what is none, or has another shape. */
export function readTransaction(json: unknown): TransactionAnswer | null {
  if (!isObject(json)) return null;
  const { txID, raw_data: raw, ret } = json;
  if (!isHash(txID) || !isObject(raw) || !Array.isArray(ret) || ret.length !== 1) return null;
  const { expiration } = raw;
  const [first] = ret;
  const contractRet = isObject(first) ? first["contractRet"] : null;
  if (!isWhole(expiration) || !isWord(contractRet)) return null;
  return { txID, raw_data: { expiration }, ret: [{ contractRet }] };
}

/** A receipt, null for what is none. Protobuf leaves out what is zero or empty; it is put back as the schema does. */
export function readReceipt(json: unknown): ReceiptAnswer | null {
  if (!isObject(json)) return null;
  const { id, fee = 0, blockNumber, blockTimeStamp = 0, receipt = {}, result, log = [] } = json;
  if (typeof id !== "string" || id.length !== 64) return null;
  if (!isWhole(fee) || !isWhole(blockNumber) || !isWhole(blockTimeStamp)) return null;
  if (!isObject(receipt)) return null;
  const { result: word } = receipt;
  const logs = listOf(log, readLog);
  if (logs === null) return null;
  if (word !== undefined && !isWord(word)) return null;
  if (result !== undefined && !isWord(result)) return null;
  return {
    id,
    fee,
    blockNumber,
    blockTimeStamp,
    receipt: word === undefined ? {} : { result: word },
    ...(result === undefined ? {} : { result }),
    log: logs,
  };
}

/** A log; null for what is none. */
export function readLog(json: unknown): LogAnswer | null {
  if (!isObject(json)) return null;
  const { address, topics = [], data = "" } = json;
  if (!isWord(address) || typeof data !== "string") return null;
  if (!Array.isArray(topics) || topics.length > 4 || !topics.every(isWord)) return null;
  return { address, topics, data };
}
