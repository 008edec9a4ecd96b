/**
 * Goes through a JSON text that has neither spaces between its values nor escapes, as nodes write
 * theirs: a quote always begins or ends a word.
 *
 * @module
 */

const HASH_DIGITS = 64;
/** So many digits are an exact double. */
const MOST_DIGITS = 15;
/** Far more than a block has; a hostile answer must not overflow the stack. */
const DEEPEST = 32;
const NAMES = ["true", "false", "null"];

const QUOTE = 0x22;
export const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
export const OPEN_LIST = 0x5b;
export const CLOSE_LIST = 0x5d;
const SMALL_A = 0x61;
const SMALL_F = 0x66;
export const OPEN = 0x7b;
export const CLOSE = 0x7d;

/** Keys that are asked for, by length and first character: most of an answer's are of no use. */
export type Keys = readonly (string | undefined)[];

/** @throws {Error} when two of them cannot be told apart by length and first character */
export function keysOf(names: readonly string[]): Keys {
  const keys = Array<string | undefined>(2_048).fill(undefined);
  for (const name of names) {
    const place = placeOf(name.length, name.charCodeAt(0));
    if (keys[place] !== undefined) {
      throw new Error(`Cannot tell keys apart: ${keys[place]}, ${name}`);
    }
    keys[place] = name;
  }
  return keys;
}

function placeOf(length: number, first: number): number {
  return length * 128 + first;
}

/**
 * Whether it has an escape, or what stands in a text that was damaged on the way: zeros where a piece
 * was lost, a line feed where one was put in. A word that holds them would be another word, and an
 * address another contract's, whose transfers are no money.
 */
export function isOdd(text: string): boolean {
  const feed = text.indexOf("\n");
  return text.includes("\\") || text.includes("\0") || (feed >= 0 && feed < text.length - 1);
}

/** A place in a text, and what can be stepped over from there. Every step says whether it was there. */
export class Cursor {
  at = 0;

  constructor(readonly text: string, readonly keys: Keys) {}

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
    const known = this.keys[placeOf(end - start, this.text.charCodeAt(start))];
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
