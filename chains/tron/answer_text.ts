/**
 * Reads the two answers that are hundreds of kilobytes long from their text: of each transaction and
 * of each receipt a few short values are used out of a kilobyte, and to make objects of all of it,
 * and to collect them again, was a third of what a busy block cost.
 *
 * It goes through an answer from its first character to its last, knows each value by its key and its
 * depth, in whatever order a node writes them, and steps over all others. What nodes do not write
 * (spaces between values, escapes, fractions, values of other types) makes it give up, and the answer is left to
 * `JSON.parse` and the schema, which read or refuse it. As there are no escapes, a quote always begins
 * or ends a word.
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
/** So many digits are an exact double. */
const MOST_DIGITS = 15;
/** Far more than a block has; a hostile answer must not overflow the stack. */
const DEEPEST = 32;
const NAMES = ["true", "false", "null"];

const SUCCESS = "SUCCESS";
/** Nearly all end well; what they say is not made for each of them. */
const SUCCEEDED: TransactionAnswer["ret"] = [{ contractRet: SUCCESS }];
const SUCCEEDED_RECEIPT: ReceiptAnswer["receipt"] = { result: SUCCESS };
const NO_RESULT: ReceiptAnswer["receipt"] = {};

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const SMALL_A = 0x61;
const SMALL_F = 0x66;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Keys by length and first character, by which they differ: most of an answer's are of no use. */
const KEYS = Array<string | undefined>(2_048).fill(undefined);
for (
  const key of [
    ...["block", "transactions", "txID", "ret", "contractRet", "raw_data", "expiration"],
    ...["id", "fee", "blockNumber", "blockTimeStamp", "receipt", "result"],
    ...["log", "address", "topics", "data"],
  ]
) {
  const place = placeOf(key.length, key.charCodeAt(0));
  if (KEYS[place] !== undefined) throw new Error(`Cannot tell keys apart: ${KEYS[place]}, ${key}`);
  KEYS[place] = key;
}

function placeOf(length: number, first: number): number {
  return length * 128 + first;
}

/** A place in a text, and what can be stepped over from there. Every step says whether it was there. */
class Cursor {
  at = 0;

  constructor(readonly text: string) {}

  /** Steps over one character. */
  over(code: number): boolean {
    if (this.text.charCodeAt(this.at) !== code) return false;
    this.at++;
    return true;
  }

  /** Steps over a key and its colon; a key that nobody asks for is as good as an empty one. */
  key(): string | null {
    if (!this.over(QUOTE)) return null;
    const start = this.at;
    const end = this.text.indexOf('"', start);
    if (end < 0 || this.text.charCodeAt(end + 1) !== COLON) return null;
    this.at = end + 2;
    const known = KEYS[placeOf(end - start, this.text.charCodeAt(start))];
    return known !== undefined && this.text.slice(start, end) === known ? known : "";
  }

  /** Steps over a word. */
  word(longest = Infinity): string | null {
    if (!this.over(QUOTE)) return null;
    const start = this.at;
    const end = this.text.indexOf('"', start);
    if (end < 0 || end - start > longest) return null;
    this.at = end + 1;
    return this.text.slice(start, end);
  }

  /** Steps over a word of 64 lower-case hex digits. */
  hash(): string | null {
    const start = this.at + 1;
    for (let i = start; i < start + HASH_DIGITS; i++) {
      const code = this.text.charCodeAt(i);
      if (!(code >= ZERO && code <= NINE) && !(code >= SMALL_A && code <= SMALL_F)) return null;
    }
    const hash = this.word(HASH_DIGITS);
    return hash?.length === HASH_DIGITS ? hash : null;
  }

  /** Steps over a number without sign, fraction and exponent; -1: it is no such. */
  whole(): number {
    const { text, at: start } = this;
    let value = 0;
    let at = start;
    for (let code = text.charCodeAt(at); code >= ZERO && code <= NINE;) {
      value = value * 10 + code - ZERO;
      code = text.charCodeAt(++at);
    }
    const digits = at - start;
    if (digits === 0 || digits > MOST_DIGITS) return -1;
    if (digits > 1 && text.charCodeAt(start) === ZERO) return -1;
    this.at = at;
    return value;
  }

  /** Steps over any value. */
  value(depth = 0): boolean {
    const { text } = this;
    const code = text.charCodeAt(this.at);
    if (code === QUOTE) {
      const end = text.indexOf('"', this.at + 1);
      this.at = end + 1;
      return end >= 0;
    }
    if (code === OPEN) return this.#object(depth);
    if (code === OPEN_LIST) return this.#list(depth);
    if (code >= SMALL_A) return this.#name();
    // without fraction and exponent, as all numbers of nodes are
    const start = code === MINUS ? this.at + 1 : this.at;
    let at = start;
    for (let digit = text.charCodeAt(at); digit >= ZERO && digit <= NINE;) {
      digit = text.charCodeAt(++at);
    }
    this.at = at;
    return at === start + 1 || (at > start && text.charCodeAt(start) !== ZERO);
  }

  #name(): boolean {
    const name = NAMES.find((one) => this.text.startsWith(one, this.at));
    if (name === undefined) return false;
    this.at += name.length;
    return true;
  }

  #object(depth: number): boolean {
    const { text } = this;
    this.at++;
    if (this.over(CLOSE)) return true;
    if (depth === DEEPEST) return false;
    for (;;) {
      if (text.charCodeAt(this.at) !== QUOTE) return false;
      const end = text.indexOf('"', this.at + 1);
      if (end < 0 || text.charCodeAt(end + 1) !== COLON) return false;
      this.at = end + 2;
      if (!this.value(depth + 1)) return false;
      if (text.charCodeAt(this.at) !== COMMA) return this.over(CLOSE);
      this.at++;
    }
  }

  #list(depth: number): boolean {
    this.at++;
    if (this.over(CLOSE_LIST)) return true;
    if (depth === DEEPEST) return false;
    do {
      if (!this.value(depth + 1)) return false;
    } while (this.over(COMMA));
    return this.over(CLOSE_LIST);
  }

  /** Steps over a list whose members are read one by one. */
  list<T>(read: (cursor: Cursor) => T | null): T[] | null {
    if (!this.over(OPEN_LIST)) return null;
    const found: T[] = [];
    if (this.over(CLOSE_LIST)) return found;
    do {
      const one = read(this);
      if (one === null) return null;
      found.push(one);
    } while (this.over(COMMA));
    return this.over(CLOSE_LIST) ? found : null;
  }

  /** Whether nothing follows but the line feed with which nodes end an answer. */
  endsHere(): boolean {
    const rest = this.text.slice(this.at);
    return rest === "" || rest === "\n" || rest === "\r\n";
  }
}

/** Blocks of a range, or `null` when the text has another form. */
export function readBlockList(text: string): BlockListAnswer | null {
  const cursor = new Cursor(text);
  if (isOdd(text) || !cursor.over(OPEN) || cursor.key() !== "block") return null;
  const block = cursor.list(readOneBlock);
  return block !== null && cursor.over(CLOSE) && cursor.endsHere() ? { block } : null;
}

/** Receipts of a block, or `null` when the text has another form. */
export function readReceipts(text: string): ReceiptAnswer[] | null {
  const cursor = new Cursor(text);
  if (isOdd(text)) return null;
  const receipts = cursor.list(readOneReceipt);
  return receipts !== null && cursor.endsHere() ? receipts : null;
}

/**
 * Whether it has an escape, or what stands in a text that was damaged on the way: zeros where a piece
 * was lost, a line feed where one was put in. A word that holds them would be another word, and an
 * address another contract's, whose transfers are no money.
 */
function isOdd(text: string): boolean {
  const feed = text.indexOf("\n");
  return text.includes("\\") || text.includes("\0") || (feed >= 0 && feed < text.length - 1);
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
        topics = readTopics(cursor);
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
  if (!cursor.over(CLOSE) || address === null) return null;
  return { address, topics, data };
}

function readTopics(cursor: Cursor): string[] | null {
  if (!cursor.over(OPEN_LIST)) return null;
  const found: string[] = [];
  if (cursor.over(CLOSE_LIST)) return found;
  do {
    const topic = cursor.word(LONGEST_WORD);
    if (topic === null || found.push(topic) > MOST_TOPICS) return null;
  } while (cursor.over(COMMA));
  return cursor.over(CLOSE_LIST) ? found : null;
}
