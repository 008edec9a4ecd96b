/**
 * Reads a range of busy blocks from the text of a node's answer, hopping from one wanted value to
 * the next: of each transaction three short values are used out of a kilobyte, and to make objects
 * of all of it, and to collect them again, was a fifth of what a block cost.
 *
 * It reads answers of the form in which nodes give them; for any other it returns `null`, and the
 * schema reads or refuses it. Where a text has no escapes, a quoted name with its colon is a key and
 * nothing else. Each transaction has three keys of which each has one value; where they are found one
 * of each before the next of any, they belong together. What is read is held to the receipts
 * afterwards, transaction by transaction, which also shows when a member of the list is none.
 *
 * Ids of transactions are pieces of the text: whoever keeps one keeps all of it.
 *
 * @module
 */

import {
  blockHeadSchema,
  type BlockListAnswer,
  type FullBlockAnswer,
  fullBlockSchema,
  type TransactionAnswer,
} from "./answers.ts";

const RANGE_BEGINS = '{"block":[';
const RANGE_ENDS = "]}";
const BLOCK_BEGINS = '{"blockID":"';
const LIST_BEGINS = ',"transactions":[';
const LIST_ENDS = "]}";

/**
 * A key, and a letter of it that blocks seldom hold: the engine searches for one character many
 * times faster than for two.
 */
interface Key {
  readonly text: string;
  readonly letter: string;
  readonly offset: number;
}

const NEXT_BLOCK = keyOf(`,${BLOCK_BEGINS}`, "k");
const ID = keyOf('"txID":"', "x");
const RESULT = keyOf('"contractRet":"', "R");
const EXPIRATION = keyOf('"expiration":', "x");

const SUCCESS = "SUCCESS";
const QUOTED_HASH = /^[0-9a-f]{64}"$/;
const HASH_LENGTH = 64;
const LONGEST_RESULT = 64;
/** So many digits are an exact double. */
const MOST_DIGITS = 15;
const QUOTE = 0x22;
const COMMA = 0x2c;
const ZERO = 0x30;
const NINE = 0x39;
const CLOSE = 0x7d;

function keyOf(text: string, letter: string): Key {
  return { text, letter, offset: text.indexOf(letter) };
}

/** Blocks of a range, or `null` when the text has another form. */
export function readBlockList(text: string): BlockListAnswer | null {
  if (!isAt(text, 0, RANGE_BEGINS) || text.includes("\\")) return null;
  // nodes end an answer with a line feed
  const end = text.lastIndexOf("}") - 1;
  if (!isAt(text, end, RANGE_ENDS) || text.slice(end + RANGE_ENDS.length).trim() !== "") {
    return null;
  }
  const block: FullBlockAnswer[] = [];
  for (let start = RANGE_BEGINS.length; start < end;) {
    const next = placeOf(NEXT_BLOCK, text, start + BLOCK_BEGINS.length);
    const one = readBlock(text, start, Math.min(next, end));
    if (one === null) return null;
    block.push(one);
    start = next + 1;
  }
  return { block };
}

/** The block from one place of the text to another. */
function readBlock(text: string, start: number, end: number): FullBlockAnswer | null {
  if (!isAt(text, start, BLOCK_BEGINS)) return null;
  const list = text.indexOf(LIST_BEGINS, start);
  if (list < 0 || list >= end) {
    const empty = fullBlockSchema.safeParse(parsed(text.slice(start, end)));
    return empty.success ? empty.data : null;
  }
  // the list is the last thing in the block
  const listEnd = end - LIST_ENDS.length;
  if (!isAt(text, listEnd, LIST_ENDS)) return null;
  const head = blockHeadSchema.safeParse(parsed(`${text.slice(start, list)}}`));
  if (!head.success) return null;
  const transactions = readTransactions(text, list + LIST_BEGINS.length, listEnd);
  return transactions === null ? null : { ...head.data, transactions };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function readTransactions(text: string, start: number, end: number): TransactionAnswer[] | null {
  const found: TransactionAnswer[] = [];
  let id = placeOf(ID, text, start);
  let result = placeOf(RESULT, text, start);
  let expiration = placeOf(EXPIRATION, text, start);
  for (let before = start;;) {
    const first = Math.min(id, result, expiration);
    if (first >= end) return found;
    const last = Math.max(id, result, expiration);
    if (first < before || last >= end) return null;
    const one = readTransaction(
      text,
      id + ID.text.length,
      result + RESULT.text.length,
      expiration + EXPIRATION.text.length,
    );
    if (one === null) return null;
    found.push(one);
    before = last;
    id = placeOf(ID, text, id + 1);
    result = placeOf(RESULT, text, result + 1);
    expiration = placeOf(EXPIRATION, text, expiration + 1);
  }
}

/** A transaction from the places of its values. */
function readTransaction(
  text: string,
  id: number,
  result: number,
  expiration: number,
): TransactionAnswer | null {
  const contractRet = readResult(text, result);
  const time = readWhole(text, expiration);
  if (contractRet === null || time === null) return null;
  if (!QUOTED_HASH.test(text.slice(id, id + HASH_LENGTH + 1))) return null;
  const txID = text.slice(id, id + HASH_LENGTH);
  return { txID, raw_data: { expiration: time }, ret: [{ contractRet }] };
}

function readResult(text: string, start: number): string | null {
  const usual = start + SUCCESS.length;
  if (isAt(text, start, SUCCESS) && text.charCodeAt(usual) === QUOTE) return SUCCESS;
  const end = text.indexOf('"', start);
  if (end < 0 || end - start > LONGEST_RESULT) return null;
  // a copy: why a transaction failed is kept for longer than the text
  const word = parsed(text.slice(start - 1, end + 1));
  return typeof word === "string" ? word : null;
}

/** The digits at a place, up to the end of the value. */
function readWhole(text: string, start: number): number | null {
  let value = 0;
  for (let at = start; at <= start + MOST_DIGITS; at++) {
    const code = text.charCodeAt(at);
    if (code >= ZERO && code <= NINE) value = value * 10 + code - ZERO;
    else return at > start && (code === COMMA || code === CLOSE) ? value : null;
  }
  return null;
}

/** Where a key is next, or `Infinity`. */
function placeOf({ text: key, letter, offset }: Key, text: string, from: number): number {
  for (let at = from;;) {
    const found = text.indexOf(letter, at);
    if (found < 0) return Infinity;
    const place = found - offset;
    if (place >= from && isAt(text, place, key)) return place;
    at = found + 1;
  }
}

/** Whether a piece stands at a place; for short pieces faster than `startsWith`. */
function isAt(text: string, place: number, piece: string): boolean {
  for (let i = 0; i < piece.length; i++) {
    if (text.charCodeAt(place + i) !== piece.charCodeAt(i)) return false;
  }
  return true;
}
