/**
 * The same shapes as in answers.ts for the two answers that are hundreds of kilobytes long. A schema
 * looks at everything through general machinery, which took a third of the time that a busy block
 * costs. What is read here is kept in objects of its own, so that the large answer can be forgotten
 * at once; what is not recognised is left to the schema, which says what is wrong. A test holds
 * these to the schema.
 *
 * @module
 */

import {
  type BlockListAnswer,
  blockListSchema,
  type FullBlockAnswer,
  type LogAnswer,
  type ReceiptAnswer,
  receiptsSchema,
  type TransactionAnswer,
} from "./answers.ts";
import type { AnswerShape } from "./read_from.ts";

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

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Every member read, or `null` when one of them, or the list, is of another shape. */
function listOf<T>(value: unknown, read: (member: unknown) => T | null): T[] | null {
  if (!Array.isArray(value)) return null;
  const found: T[] = [];
  for (const member of value) {
    const one = read(member);
    if (one === null) return null;
    found.push(one);
  }
  return found;
}

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

function readBlock(json: unknown): FullBlockAnswer | null {
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

function readTransaction(json: unknown): TransactionAnswer | null {
  if (!isObject(json)) return null;
  const { txID, raw_data: raw, ret } = json;
  if (!isHash(txID) || !isObject(raw) || !Array.isArray(ret) || ret.length !== 1) return null;
  const { expiration } = raw;
  const [first] = ret;
  const contractRet = isObject(first) ? first["contractRet"] : null;
  if (!isWhole(expiration) || !isWord(contractRet)) return null;
  return { txID, raw_data: { expiration }, ret: [{ contractRet }] };
}

/** Protobuf leaves out what is zero or empty; it is put back as the schema does. */
function readReceipt(json: unknown): ReceiptAnswer | null {
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

function readLog(json: unknown): LogAnswer | null {
  if (!isObject(json)) return null;
  const { address, topics = [], data = "" } = json;
  if (!isWord(address) || typeof data !== "string") return null;
  if (!Array.isArray(topics) || topics.length > 4 || !topics.every(isWord)) return null;
  return { address, topics, data };
}
