/**
 * Reads the two answers that are hundreds of kilobytes long from their text: of each transaction and
 * of each receipt a few short values are used out of a kilobyte, and to make objects of all of it,
 * and to collect them again, was a third of what a busy block cost.
 *
 * Nodes write what they answer in one order and without spaces, so a transaction is read by stepping
 * over exactly that form. One that has any other form is read by `JSON.parse` from where it stands to
 * where the next one begins, which also proves that it ends there; and where that fails, the whole
 * answer is left to the schema. A text with an escape is left to it from the start, so that a quote
 * always begins or ends a word.
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
  readReceipt,
  readTransaction,
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

const TRANSACTIONS = ',"transactions":[';
const BLOCK = '{"blockID":"';
const NEXT_BLOCK = `,${BLOCK}`;
const NEXT_TRANSACTION = '},{"ret":';
const NEXT_RECEIPT = '},{"id":';
const RESULT = '"result"';

const HASH_DIGITS = 64;
const LONGEST_WORD = 64;
const MOST_TOPICS = 4;
/** So many digits are an exact double. */
const MOST_DIGITS = 15;
const ZERO = 0x30;
const NINE = 0x39;
const SMALL_A = 0x61;
const SMALL_F = 0x66;

/** The block that receipts say they are of, and the piece of text in which they say it. */
interface Place extends Pick<ReceiptAnswer, "blockNumber" | "blockTimeStamp"> {
  readonly piece: string;
}

/** A place in a text, and what can be stepped over from there. */
class Cursor {
  at = 0;
  /** What the receipt before said of its block. */
  place: Place | null = null;

  constructor(readonly text: string) {}

  /** Steps over a piece where it stands here. To compare it whole is faster than by characters. */
  over(piece: string): boolean {
    const end = this.at + piece.length;
    if (this.text.slice(this.at, end) !== piece) return false;
    this.at = end;
    return true;
  }

  /** Steps over the rest of a word, of any length, and its closing quote. */
  overWord(): boolean {
    const end = this.text.indexOf('"', this.at);
    if (end < 0) return false;
    this.at = end + 1;
    return true;
  }

  /** The rest of a word, or `null` when it is a longer one; its closing quote is stepped over. */
  word(longest: number): string | null {
    const start = this.at;
    const end = this.text.indexOf('"', start);
    if (end < 0 || end - start > longest) return null;
    this.at = end + 1;
    return this.text.slice(start, end);
  }

  /** Why a transaction ended as it did; mostly well. */
  result(): string | null {
    return this.over('SUCCESS"') ? "SUCCESS" : this.word(LONGEST_WORD);
  }

  /** 64 lower-case hex digits and the closing quote. */
  hash(): string | null {
    const start = this.at;
    for (let i = start; i < start + HASH_DIGITS; i++) {
      const code = this.text.charCodeAt(i);
      if (!(code >= ZERO && code <= NINE) && !(code >= SMALL_A && code <= SMALL_F)) return null;
    }
    return this.word(HASH_DIGITS);
  }

  /** A number without sign, fraction and exponent, or -1; what follows is for the next step to say. */
  whole(): number {
    const start = this.at;
    let value = 0;
    let at = start;
    for (let code = this.text.charCodeAt(at); code >= ZERO && code <= NINE;) {
      value = value * 10 + code - ZERO;
      code = this.text.charCodeAt(++at);
    }
    const digits = at - start;
    if (digits === 0 || digits > MOST_DIGITS) return -1;
    if (digits > 1 && this.text.charCodeAt(start) === ZERO) return -1;
    this.at = at;
    return value;
  }

  /** Steps over the rest of an object that has no other in it, and gives it without its brace. */
  flat(): string | null {
    const start = this.at;
    const end = this.text.indexOf("}", start);
    if (end < 0) return null;
    const inside = this.text.slice(start, end);
    if (inside.includes("{")) return null;
    this.at = end + 1;
    return inside;
  }
}

/** Blocks of a range, or `null` when the text has another form. */
export function readBlockList(text: string): BlockListAnswer | null {
  const cursor = new Cursor(text);
  if (!cursor.over('{"block":[') || isOdd(text)) return null;
  const block: FullBlockAnswer[] = [];
  let list = text.indexOf(TRANSACTIONS);
  do {
    if (list >= 0 && list < cursor.at) list = text.indexOf(TRANSACTIONS, cursor.at);
    const one = nextBlock(cursor, list);
    if (one === null) return null;
    block.push(one);
  } while (cursor.over(","));
  return cursor.over("]}") && endsHere(cursor) ? { block } : null;
}

/** Receipts of a block, or `null` when the text has another form. */
export function readReceipts(text: string): ReceiptAnswer[] | null {
  const cursor = new Cursor(text);
  if (!cursor.over("[") || isOdd(text)) return null;
  const receipts = members(cursor, {
    usual: usualReceipt,
    next: NEXT_RECEIPT,
    end: () => text.lastIndexOf("]"),
    read: readReceipt,
  });
  return receipts !== null && endsHere(cursor) ? receipts : null;
}

/** Whether it has an escape, or zeros, which stand where a piece was lost on the way. */
function isOdd(text: string): boolean {
  return text.includes("\\") || text.includes("\0");
}

/** Nodes end an answer with a line feed. */
function endsHere({ text, at }: Cursor): boolean {
  const rest = text.slice(at);
  return rest === "" || rest === "\n" || rest === "\r\n";
}

/** @param list where the next list of transactions begins, which may be another block's */
function nextBlock(cursor: Cursor, list: number): FullBlockAnswer | null {
  const { text, at: start } = cursor;
  // otherwise its predecessors would have looked for it up to the end of the text, each of them
  if (!text.startsWith(BLOCK, start)) return null;
  const head = text.slice(start, list < 0 ? text.length : list);
  const next = head.indexOf(NEXT_BLOCK);
  if (list < 0 || next >= 0) {
    const end = next < 0 ? text.lastIndexOf("]}") : start + next;
    cursor.at = end;
    return readBlock(parsed(text.slice(start, end)));
  }
  const block = readBlock(parsed(`${head}}`));
  cursor.at = list + TRANSACTIONS.length;
  if (block === null) return null;
  const transactions = members(cursor, {
    usual: usualTransaction,
    next: NEXT_TRANSACTION,
    end: () => {
      const end = text.indexOf(`]}${NEXT_BLOCK}`, list);
      return end < 0 ? text.lastIndexOf("]}]}") : end;
    },
    read: readTransaction,
  });
  return transactions !== null && cursor.over("}") ? { ...block, transactions } : null;
}

/** How the members of a list are read. */
interface Members<T> {
  /** Steps over one in the form that nodes give it. */
  readonly usual: (cursor: Cursor) => T | null;
  /** The end of one and the beginning of the next. */
  readonly next: string;
  /** Where the list's bracket is. */
  readonly end: () => number;
  /** Reads one in any form. */
  readonly read: (json: unknown) => T | null;
}

/** What is left of a list, and steps over its bracket; `null` when something else is in it. */
function members<T>(cursor: Cursor, { usual, next, end, read }: Members<T>): T[] | null {
  const found: T[] = [];
  if (cursor.over("]")) return found;
  const { text } = cursor;
  let last: number | null = null;
  do {
    const start = cursor.at;
    let one = usual(cursor);
    if (one === null) {
      last ??= end();
      const rest = text.slice(start, last);
      const place = rest.indexOf(next);
      cursor.at = place < 0 ? last : start + place + 1;
      one = read(parsed(text.slice(start, cursor.at)));
    }
    if (one === null) return null;
    found.push(one);
  } while (cursor.over(","));
  return cursor.over("]") ? found : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function usualTransaction(cursor: Cursor): TransactionAnswer | null {
  if (!cursor.over('{"ret":[{"contractRet":"')) return null;
  const contractRet = cursor.result();
  if (contractRet === null || !cursor.over('}],"signature":["')) return null;
  do {
    if (!cursor.overWord()) return null;
  } while (cursor.over(',"'));
  if (!cursor.over('],"txID":"')) return null;
  const txID = cursor.hash();
  if (txID === null || !cursor.over(',"raw_data":{"contract":[{"parameter":{"value":{')) {
    return null;
  }
  if (cursor.flat() === null || !cursor.over(',"type_url":"')) return null;
  if (!cursor.overWord() || !cursor.over('},"type":"')) return null;
  if (!cursor.overWord() || !cursor.over('}],"ref_block_bytes":"')) return null;
  if (!cursor.overWord() || !cursor.over(',"ref_block_hash":"')) return null;
  if (!cursor.overWord() || !cursor.over(',"expiration":')) return null;
  const expiration = cursor.whole();
  const rest = cursor.flat();
  if (expiration < 0 || rest === null || !isRest(rest)) return null;
  if (!cursor.over(',"raw_data_hex":"') || !cursor.overWord() || !cursor.over("}")) return null;
  return { txID, raw_data: { expiration }, ret: [{ contractRet }] };
}

/** Whether this is what may follow an expiration: other fields, and not another one. */
function isRest(text: string): boolean {
  return text === "" || (text.startsWith(',"') && !text.includes('"expiration"'));
}

/** Protobuf leaves out what is zero or empty. */
function usualReceipt(cursor: Cursor): ReceiptAnswer | null {
  if (!cursor.over('{"id":"')) return null;
  const id = cursor.word(HASH_DIGITS);
  if (id?.length !== HASH_DIGITS) return null;
  const fee = cursor.over(',"fee":') ? cursor.whole() : 0;
  const place = fee < 0 ? null : placeOf(cursor);
  if (place === null || !cursor.over(',"contractResult":["')) return null;
  if (!cursor.overWord() || !cursor.over("]")) return null;
  if (cursor.over(',"contract_address":"') && !cursor.overWord()) return null;
  if (!cursor.over(',"receipt":{')) return null;
  const used = cursor.flat();
  if (used === null) return null;
  const receipt = resultOf(used);
  if (receipt === null) return null;
  const log = cursor.over(',"log":[') ? logs(cursor) : [];
  if (log === null) return null;
  const { blockNumber, blockTimeStamp } = place;
  const told = { id, fee, blockNumber, blockTimeStamp, receipt, log };
  if (cursor.over("}")) return told;
  const result = cursor.over(',"result":"') ? cursor.result() : null;
  if (result === null || (cursor.over(',"resMessage":"') && !cursor.overWord())) return null;
  return cursor.over("}") ? { ...told, result } : null;
}

/** The block of a receipt: the same as that of the one before. */
function placeOf(cursor: Cursor): Place | null {
  const { text, at: start, place } = cursor;
  if (place !== null && cursor.over(place.piece)) return place;
  if (!cursor.over(',"blockNumber":')) return null;
  const blockNumber = cursor.whole();
  if (blockNumber < 0 || !cursor.over(',"blockTimeStamp":')) return null;
  const blockTimeStamp = cursor.whole();
  if (blockTimeStamp < 0) return null;
  const piece = text.slice(start, cursor.at);
  return cursor.place = { piece, blockNumber, blockTimeStamp };
}

/** The result among what a transaction used, where there is one; of several the last one counts. */
function resultOf(used: string): ReceiptAnswer["receipt"] | null {
  const place = used.lastIndexOf(RESULT);
  if (place < 0) return {};
  const cursor = new Cursor(used);
  cursor.at = place;
  const result = cursor.over('"result":"') ? cursor.result() : null;
  return result === null ? null : { result };
}

function logs(cursor: Cursor): LogAnswer[] | null {
  const found: LogAnswer[] = [];
  do {
    if (!cursor.over('{"address":"')) return null;
    const address = cursor.word(LONGEST_WORD);
    const topics = cursor.over(',"topics":[') ? words(cursor) : [];
    const data = cursor.over(',"data":"') ? cursor.word(Infinity) : "";
    if (address === null || topics === null || data === null || !cursor.over("}")) return null;
    found.push({ address, topics, data });
  } while (cursor.over(","));
  return cursor.over("]") ? found : null;
}

function words(cursor: Cursor): string[] | null {
  const found: string[] = [];
  do {
    const word = cursor.over('"') ? cursor.word(LONGEST_WORD) : null;
    if (word === null || found.push(word) > MOST_TOPICS) return null;
  } while (cursor.over(","));
  return cursor.over("]") ? found : null;
}
