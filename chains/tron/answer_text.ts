/**
 * Reads the two answers that are hundreds of kilobytes long from their text: of each transaction and
 * of each receipt a few short values are used out of a kilobyte, and to make objects of all of it,
 * and to collect them again, was a third of what a busy block cost.
 *
 * It goes through an answer from its first character to its last, knows each value by its key and its
 * depth, in whatever order a node writes them, and steps over all others. What nodes do not write
 * (spaces between values, escapes, fractions, values of other types) makes it give up, and the answer
 * is left to `JSON.parse` and the schema, which read or refuse it.
 *
 * Words are pieces of the text: whoever keeps one keeps all of it, so only the newest blocks may.
 *
 * @module
 */

import type {
  BlockListAnswer,
  FullBlockAnswer,
  LogAnswer,
  ReceiptAnswer,
  TransactionAnswer,
} from "./answers.ts";
import {
  blockListShape as blockListObject,
  readBlock,
  receiptsShape as receiptsObject,
} from "./busy_answers.ts";
import type { AnswerShape } from "./node_pool.ts";
import { CLOSE, CLOSE_LIST, COMMA, Cursor, isOdd, keysOf, OPEN, OPEN_LIST } from "./text_cursor.ts";

/** Blocks of a range. */
export const blockListShape: AnswerShape<BlockListAnswer> = {
  readText: readBlockList,
  safeParse: blockListObject.safeParse,
};

/** Receipts of a block. */
export const receiptsShape: AnswerShape<ReceiptAnswer[]> = {
  readText: readReceipts,
  safeParse: receiptsObject.safeParse,
};

const HASH_DIGITS = 64;
const LONGEST_WORD = 64;
const MOST_TOPICS = 4;

const SUCCESS = "SUCCESS";
/** Nearly all end well; what they say is not made for each of them. */
const SUCCEEDED: TransactionAnswer["ret"] = [{ contractRet: SUCCESS }];
const SUCCEEDED_RECEIPT: ReceiptAnswer["receipt"] = { result: SUCCESS };
const NO_RESULT: ReceiptAnswer["receipt"] = {};

const KEYS = keysOf([
  ...["block", "transactions", "txID", "ret", "contractRet", "raw_data", "expiration"],
  ...["id", "fee", "blockNumber", "blockTimeStamp", "receipt", "result"],
  ...["log", "address", "topics", "data"],
]);

/** Blocks of a range, or `null` when the text has another form. */
export function readBlockList(text: string): BlockListAnswer | null {
  const cursor = new Cursor(text, KEYS);
  if (isOdd(text) || !cursor.over(OPEN) || cursor.key() !== "block") return null;
  const block = cursor.list(readOneBlock);
  return block !== null && cursor.over(CLOSE) && cursor.endsHere() ? { block } : null;
}

/** Receipts of a block, or `null` when the text has another form. */
export function readReceipts(text: string): ReceiptAnswer[] | null {
  const cursor = new Cursor(text, KEYS);
  if (isOdd(text)) return null;
  const receipts = cursor.list(readOneReceipt);
  return receipts !== null && cursor.endsHere() ? receipts : null;
}

function readOneBlock(cursor: Cursor): FullBlockAnswer | null {
  if (!cursor.over(OPEN)) return null;
  // all but the transactions, which is short
  const head: string[] = [];
  let transactions: TransactionAnswer[] | null = [];
  do {
    const start = cursor.at;
    const key = cursor.key();
    if (key === "transactions") transactions = cursor.list(readOneTransaction);
    else if (key === null || !cursor.value()) return null;
    else head.push(cursor.text.slice(start, cursor.at));
    if (transactions === null) return null;
  } while (cursor.over(COMMA));
  if (!cursor.over(CLOSE)) return null;
  const block = readBlock(parsed(`{${head.join(",")}}`));
  return block === null ? null : { ...block, transactions };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function readOneTransaction(cursor: Cursor): TransactionAnswer | null {
  if (!cursor.over(OPEN)) return null;
  let txID: string | null = null;
  let ret: TransactionAnswer["ret"] | null = null;
  let raw: TransactionAnswer["raw_data"] | null = null;
  do {
    switch (cursor.key()) {
      case "txID":
        if ((txID = cursor.hash()) === null) return null;
        break;
      case "ret":
        if ((ret = readResults(cursor)) === null) return null;
        break;
      case "raw_data":
        if ((raw = readRawData(cursor)) === null) return null;
        break;
      case null:
        return null;
      default:
        if (!cursor.value()) return null;
    }
  } while (cursor.over(COMMA));
  if (!cursor.over(CLOSE) || txID === null || ret === null || raw === null) return null;
  return { txID, raw_data: raw, ret };
}

/** A list of one result; the service knows no other. */
function readResults(cursor: Cursor): TransactionAnswer["ret"] | null {
  if (!cursor.over(OPEN_LIST) || !cursor.over(OPEN)) return null;
  let result: string | null = null;
  do {
    const key = cursor.key();
    if (key === "contractRet") result = cursor.word(LONGEST_WORD);
    else if (key === null || !cursor.value()) return null;
  } while (cursor.over(COMMA));
  if (!cursor.over(CLOSE) || !cursor.over(CLOSE_LIST) || result === null) return null;
  return result === SUCCESS ? SUCCEEDED : [{ contractRet: result }];
}

function readRawData(cursor: Cursor): TransactionAnswer["raw_data"] | null {
  if (!cursor.over(OPEN)) return null;
  let expiration = -1;
  do {
    const key = cursor.key();
    if (key === "expiration") {
      if ((expiration = cursor.whole()) < 0) return null;
    } else if (key === null || !cursor.value()) return null;
  } while (cursor.over(COMMA));
  return cursor.over(CLOSE) && expiration >= 0 ? { expiration } : null;
}

/** Protobuf leaves out what is zero or empty. */
function readOneReceipt(cursor: Cursor): ReceiptAnswer | null {
  if (!cursor.over(OPEN)) return null;
  let id: string | null = null;
  let fee = 0;
  let blockNumber = -1;
  let blockTimeStamp = 0;
  let receipt: ReceiptAnswer["receipt"] | null = NO_RESULT;
  let result: string | null = null;
  let log: LogAnswer[] | null = [];
  do {
    switch (cursor.key()) {
      case "id":
        if ((id = cursor.word(HASH_DIGITS)) === null) return null;
        break;
      case "fee":
        if ((fee = cursor.whole()) < 0) return null;
        break;
      case "blockNumber":
        if ((blockNumber = cursor.whole()) < 0) return null;
        break;
      case "blockTimeStamp":
        if ((blockTimeStamp = cursor.whole()) < 0) return null;
        break;
      case "receipt":
        if ((receipt = readUsed(cursor)) === null) return null;
        break;
      case "result":
        if ((result = cursor.word(LONGEST_WORD)) === null) return null;
        break;
      case "log":
        if ((log = cursor.list(readLog)) === null) return null;
        break;
      case null:
        return null;
      default:
        if (!cursor.value()) return null;
    }
  } while (cursor.over(COMMA));
  if (!cursor.over(CLOSE) || id?.length !== HASH_DIGITS || blockNumber < 0) return null;
  const told = { id, fee, blockNumber, blockTimeStamp, receipt, log };
  return result === null ? told : { ...told, result };
}

/** What a transaction used, of which its result is read. */
function readUsed(cursor: Cursor): ReceiptAnswer["receipt"] | null {
  if (!cursor.over(OPEN)) return null;
  if (cursor.over(CLOSE)) return NO_RESULT;
  let result: string | undefined;
  do {
    const key = cursor.key();
    if (key === "result") {
      const word = cursor.word(LONGEST_WORD);
      if (word === null) return null;
      result = word;
    } else if (key === null || !cursor.value()) return null;
  } while (cursor.over(COMMA));
  if (!cursor.over(CLOSE)) return null;
  if (result === undefined) return NO_RESULT;
  return result === SUCCESS ? SUCCEEDED_RECEIPT : { result };
}

function readLog(cursor: Cursor): LogAnswer | null {
  if (!cursor.over(OPEN)) return null;
  let address: string | null = null;
  let topics: string[] | null = [];
  let data: string | null = "";
  do {
    switch (cursor.key()) {
      case "address":
        address = cursor.word(LONGEST_WORD);
        break;
      case "topics":
        topics = cursor.list(readTopic);
        break;
      case "data":
        data = cursor.word();
        break;
      case null:
        return null;
      default:
        if (!cursor.value()) return null;
    }
    if (topics === null || data === null) return null;
  } while (cursor.over(COMMA));
  if (!cursor.over(CLOSE) || address === null || topics.length > MOST_TOPICS) return null;
  return { address, topics, data };
}

function readTopic(cursor: Cursor): string | null {
  return cursor.word(LONGEST_WORD);
}
