/**
 * Reads some fields of a JSON text that comes in pieces and passes over all others, whatever they have: a text of any
 * length and content costs time by its bytes alone, and memory by what is kept of it. Members of long lists are handed
 * on one by one.
 *
 * @module
 */

import { GrowingBytes } from "./growing_bytes.ts";
import {
  BACKSLASH,
  CLOSE,
  CLOSE_LIST,
  COLON,
  COMMA,
  isBlank,
  OPEN,
  OPEN_LIST,
  QUOTE,
} from "./json_bytes.ts";
import { JsonGrammar, malformed } from "./json_grammar.ts";
import { JsonText, JsonWord } from "./json_scalars.ts";

/** Bytes of what is kept together at most: an event's data has six megabytes, as contracts have no more memory. */
const LONGEST_KEPT_BYTES = 8 * 1024 * 1024;
/** Bytes of members that are read together: whatever they have, they hold the thread for a few milliseconds. */
const RUN_BYTES = 64 * 1024;
/** Values that are kept together at most, far more than any object has of use: each costs time to read. */
const MOST_KEPT_VALUES = 1_000;
/** Longer names are none of those that are read. */
const LONGEST_NAME = 64;

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const COMMA_BYTES = Uint8Array.of(COMMA);
const NULL = encoder.encode("null");

/** Fields that are read, by their names. */
export interface Fields {
  readonly [name: string]: Part;
}

/** Part of a field that is read: `value`, a text, a number or a list of them; else some fields of an object, or of each of a list. */
export type Part = "value" | Objects;

/** Fields that are read of an object, or of each of a list. */
export class Objects {
  readonly #byLength: Name[][] = [];

  /** @param list name under which each member of the list is handed on by itself; null: they stay in the text */
  constructor(fields: Fields, readonly list: string | null = null) {
    for (const [place, [name, part]] of Object.entries(fields).entries()) {
      const bytes = encoder.encode(name);
      const sameLength = this.#byLength[bytes.length] ??= [];
      const label = encoder.encode(`"${name}":`);
      sameLength.push({ bytes, label, part, bit: 1 << place });
    }
  }

  /** The field of a name, in the first bytes of a buffer. */
  named(buffer: Uint8Array, length: number): Name | null {
    const sameLength = this.#byLength[length];
    return sameLength?.find(({ bytes }) => beginsWith(buffer, bytes)) ?? null;
  }
}

function beginsWith(buffer: Uint8Array, bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== buffer[i]) return false;
  return true;
}

/** A name as it stands in a text. */
interface Name {
  readonly bytes: Uint8Array;
  /** With quotes and colon. */
  readonly label: Uint8Array;
  readonly part: Part;
  /** Stands for it among the fields of an object; there are fewer of them than an integer has bits. */
  readonly bit: number;
}

/** An object or list that is open and read. */
interface Open {
  readonly isList: boolean;
  readonly part: Part;
  /** Receives its members. */
  readonly out: GrowingBytes;
  /** Fields or members that were kept. */
  count: number;
  /** Of an object: bits of the fields that were met, and whether it has any name at all. */
  met: number;
  hasNames: boolean;
}

/** Reads one text. */
export class FieldPicker {
  readonly #root: Part;
  readonly #member: (list: string, json: unknown) => void;
  readonly #open: Open[] = [];
  /** Texts under way: the whole one, and a member of each list in the other. */
  readonly #outs = [new GrowingBytes()];
  /** Values in each of them. */
  readonly #values = [0];
  #depth = 0;
  /** Objects and lists that are open and passed over. */
  #passedOver = 0;
  #at: "between" | "text" | "word" = "between";
  readonly #grammar = new JsonGrammar();
  readonly #text = new JsonText();
  readonly #word = new JsonWord();
  /** The present text is a name in an object that is read. */
  #isName = false;
  /** The present text or word is kept. */
  #isKept = false;
  readonly #name = new Uint8Array(LONGEST_NAME);
  #nameLength = 0;
  /** The field whose value is next. */
  #field: Name | null = null;

  /**
   * @param member receives each member of the lists that have a name, by that. A short one is whole, with all of its
   *   fields and lists; from a long one lists with a name were handed on before it and are empty
   */
  constructor(root: Part, member: (list: string, json: unknown) => void) {
    this.#root = root;
    this.#member = member;
  }

  /**
   * Takes the next piece of the text.
   *
   * @throws {ChainUnavailable} `malformed` where it is no JSON, what is kept of it is too long, or an object that is
   *   read has a name with an escape or a field twice: the field could be read from neither
   */
  push(piece: Uint8Array): void {
    for (let i = 0; i < piece.length;) {
      if (this.#at === "text") i = this.#goOnText(piece, i);
      else if (this.#at === "word") i = this.#goOnWord(piece, i);
      else {
        const byte = piece[i] as number;
        if (isBlank(byte)) i += 1;
        else if (byte === OPEN) i = this.#run(piece, i) ?? this.#next(byte, i);
        else i = this.#next(byte, i);
      }
    }
  }

  /** The text of the fields that were read, without the members of lists that were handed on. @throws {ChainUnavailable} see {@linkcode push} */
  end(): string {
    if (this.#at === "word") this.#endWord();
    if (this.#at === "text" || !this.#grammar.isWhole) throw malformed("it has no end");
    return decoder.decode(this.#out.bytes);
  }

  get #out(): GrowingBytes {
    return this.#outs[this.#depth] as GrowingBytes;
  }

  /** Handles a byte between texts and words. @returns the place from which on it goes on */
  #next(byte: number, i: number): number {
    if (byte === QUOTE) this.#beginText();
    else if (byte === OPEN || byte === OPEN_LIST) this.#beginInner(byte === OPEN_LIST);
    else if (byte === CLOSE || byte === CLOSE_LIST) this.#endInner(byte === CLOSE_LIST);
    else if (byte === COMMA) this.#grammar.comma();
    else if (byte === COLON) this.#grammar.colon();
    else {
      this.#grammar.value();
      this.#at = "word";
      this.#word.begin();
      this.#beginValue();
      return i;
    }
    return i + 1;
  }

  /**
   * Hands on short members of a list that are whole in a piece as they are: that is faster than looking at their fields.
   *
   * @returns the place after them; null where there are none
   */
  #run(piece: Uint8Array, from: number): number | null {
    const open = this.#open.at(-1);
    if (open?.isList !== true || this.#passedOver > 0) return null;
    const list = listOf(open.part);
    if (list === null) return null;
    const to = endOfRun(piece, from);
    if (to === from) return null;
    this.#grammar.value();
    const members = jsonOf(`[${decoder.decode(piece.subarray(from, to))}]`) as readonly unknown[];
    for (const member of members) this.#member(list, member);
    return to;
  }

  #beginText(): void {
    this.#at = "text";
    this.#text.begin();
    if (!this.#grammar.text()) this.#beginValue();
    else if (this.#passedOver === 0) {
      this.#isName = true;
      this.#nameLength = 0;
    }
    // its quote is kept with it
    if (this.#isKept) this.#out.put(QUOTE);
  }

  /** Goes on within a text. */
  #goOnText(piece: Uint8Array, from: number): number {
    const i = this.#text.endIn(piece, from);
    if (this.#isName) this.#addToName(piece.subarray(from, i));
    else if (this.#isKept) this.#keep(piece.subarray(from, Math.min(i + 1, piece.length)));
    if (i < piece.length) this.#endText();
    return i + 1;
  }

  #addToName(part: Uint8Array): void {
    const length = this.#nameLength + part.length;
    if (length <= LONGEST_NAME) this.#name.set(part, this.#nameLength);
    this.#nameLength = length;
  }

  #endText(): void {
    this.#at = "between";
    this.#isKept = false;
    if (!this.#isName) return;
    this.#isName = false;
    if (this.#text.hasEscapes) throw malformed("a name of it has an escape");
    const open = this.#open.at(-1);
    if (!(open?.part instanceof Objects)) return;
    this.#field = open.part.named(this.#name, this.#nameLength);
    open.hasNames = true;
    if (this.#field === null) return;
    if ((open.met & this.#field.bit) !== 0) throw malformed("an object has a field twice");
    open.met |= this.#field.bit;
  }

  /** Goes on within a number or another word. */
  #goOnWord(piece: Uint8Array, from: number): number {
    const i = this.#word.endIn(piece, from);
    if (this.#isKept) this.#keep(piece.subarray(from, i));
    if (i < piece.length) this.#endWord();
    return i;
  }

  #endWord(): void {
    this.#word.end();
    this.#at = "between";
    this.#isKept = false;
  }

  /** Part of the next value that is read; null: it is passed over. */
  #wanted(): Part | null {
    if (this.#passedOver > 0) return null;
    const open = this.#open.at(-1);
    if (open?.isList === true) return open.part;
    return open === undefined ? this.#root : this.#field?.part ?? null;
  }

  /** A text or word begins that is no name. */
  #beginValue(): void {
    const part = this.#wanted();
    this.#isKept = part === "value";
    if (part === null) return;
    this.#begin();
    if (part !== "value") this.#keep(NULL);
  }

  /** Begins a value that is kept, or has null in its place. */
  #begin(): void {
    const open = this.#open.at(-1);
    if (open === undefined) return;
    if (open.isList && listOf(open.part) !== null) throw malformed("a list has no objects");
    const values = (this.#values[this.#depth] ?? 0) + 1;
    if (values > MOST_KEPT_VALUES) {
      throw malformed(`a part of it has more than ${values - 1} values`);
    }
    this.#values[this.#depth] = values;
    if (open.count > 0) this.#keep(COMMA_BYTES);
    open.count += 1;
    if (this.#field !== null) this.#keep(this.#field.label);
    this.#field = null;
  }

  #beginInner(isList: boolean): void {
    this.#grammar.open(isList);
    const part = this.#wanted();
    const outer = this.#open.at(-1);
    if (part === null) {
      this.#passedOver += 1;
      return;
    }
    const isMember = !isList && outer?.isList === true && listOf(part) !== null;
    if (isMember) {
      this.#depth += 1;
      this.#outs[this.#depth] ??= new GrowingBytes();
      this.#out.clear();
      this.#values[this.#depth] = 0;
    } else {
      this.#begin();
      // a list of lists, or an object for a value: it is wrong, and no more is read of it
      if (isList ? outer?.isList === true : part === "value") {
        this.#keep(NULL);
        this.#passedOver += 1;
        return;
      }
    }
    this.#out.put(isList ? OPEN_LIST : OPEN);
    this.#open.push({ isList, part, out: this.#out, count: 0, met: 0, hasNames: false });
    this.#field = null;
  }

  #endInner(isList: boolean): void {
    this.#grammar.close(isList);
    if (this.#passedOver > 0) {
      this.#passedOver -= 1;
      return;
    }
    const ended = this.#open.pop();
    this.#field = null;
    this.#out.put(isList ? CLOSE_LIST : CLOSE);
    const outer = this.#open.at(-1);
    if (outer === undefined && ended?.hasNames === true && ended.met === 0) {
      // as `{}` it would say that the node does not have what was asked for
      throw malformed("it has none of the fields that are read");
    }
    if (isList || outer?.isList !== true) return;
    const list = listOf(outer.part);
    if (list === null) return;
    const json = jsonOf(decoder.decode(this.#out.bytes));
    this.#out.clear();
    this.#depth -= 1;
    this.#member(list, json);
  }

  #keep(bytes: Uint8Array): void {
    if (this.#out.size + bytes.length > LONGEST_KEPT_BYTES) {
      throw malformed(`a part of it has more than ${LONGEST_KEPT_BYTES} bytes`);
    }
    this.#out.add(bytes);
  }
}

/** The name of a list whose members are handed on; null: they are not. */
function listOf(part: Part): string | null {
  return part === "value" ? null : part.list;
}

/** The place after the last of the objects that begin at a place and are whole within a short part of a piece. */
function endOfRun(piece: Uint8Array, from: number): number {
  const most = Math.min(piece.length, from + RUN_BYTES);
  let depth = 0;
  let to = from;
  for (let i = from; i < most; i++) {
    const byte = piece[i] as number;
    if (byte === QUOTE) {
      i = endOfText(piece, i + 1);
    } else if (byte === OPEN || byte === OPEN_LIST) {
      if (depth === 0 && byte === OPEN_LIST) return to;
      depth += 1;
    } else if (byte === CLOSE || byte === CLOSE_LIST) {
      if (depth === 0) return to;
      depth -= 1;
      if (depth === 0) to = i + 1;
    }
  }
  return to;
}

/** The place of the quote that ends a text; the piece's end where none does. */
function endOfText(piece: Uint8Array, from: number): number {
  let i = from;
  for (; i < piece.length; i++) {
    const byte = piece[i];
    if (byte === QUOTE) return i;
    if (byte === BACKSLASH) i += 1;
  }
  return i;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed("a member of a list is no JSON");
  }
}
