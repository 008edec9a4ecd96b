/**
 * Takes long lists out of a JSON text that comes in pieces: each member of a list under one name is handed on by itself
 * and forgotten, and what is left is a short text with a number in the place of each list. So a text of any length needs
 * memory for its longest member alone, and no step of the work is long.
 *
 * @module
 */

import { ChainUnavailable } from "../chain.ts";
import { isCrowded } from "./crowded_text.ts";
import { GrowingBytes } from "./growing_bytes.ts";
import {
  BACKSLASH,
  CLOSE,
  CLOSE_LIST,
  COLON,
  COMMA,
  LAST_BLANK,
  OPEN,
  OPEN_LIST,
  QUOTE,
} from "./json_bytes.ts";

/** Length of the text without its lists: far more than blocks have transactions. */
const LONGEST_REST_BYTES = 32 * 1024 * 1024;
/** Length of one member of a list: gas pays for far less in a log. */
const LONGEST_MEMBER_BYTES = 32 * 1024 * 1024;

/** Receives what is taken out. */
export interface CutMembers {
  /** A member of the present list, an object. */
  member(json: unknown): void;
  /** The present list has ended. @returns the number that stands for it */
  end(): number;
}

/** The place from one on at which a text may end, or a letter is escaped. */
function endOfPlain(piece: Uint8Array, from: number): number {
  let i = from;
  while (i < piece.length && piece[i] !== QUOTE && piece[i] !== BACKSLASH) i++;
  return i;
}

function malformed(why: string): ChainUnavailable {
  return new ChainUnavailable("malformed", `Cannot read a long answer as ${why}`);
}

/** Cuts one text. */
export class ListCutter {
  readonly #name: Uint8Array;
  readonly #members: CutMembers;
  readonly #rest = new GrowingBytes();
  /** The beginning of a member whose end is in a later piece. */
  readonly #begun = new GrowingBytes();
  readonly #decoder = new TextDecoder();
  readonly #encoder = new TextEncoder();
  #inText = false;
  #isEscaped = false;
  /** Letters of the present text that are those of the name; -1: it is another text. */
  #matched = -1;
  /** `name`: the last text was the name; `colon`: and a colon followed. */
  #seen: "name" | "colon" | null = null;
  /** Objects and lists that are open in the present list; -1: outside of one. */
  #depth = -1;

  /** @param name of the lists that are taken out, letters of ASCII */
  constructor(name: string, members: CutMembers) {
    this.#name = new TextEncoder().encode(name);
    this.#members = members;
  }

  /**
   * Takes the next piece of the text.
   *
   * @throws {ChainUnavailable} `malformed` where a list has a member that is no object or too long, or what is left is too long
   */
  push(piece: Uint8Array): void {
    /** From where on the piece belongs to what is left, or to the present member. */
    let from = 0;
    for (let i = 0; i < piece.length; i++) {
      if (this.#inText) {
        // most bytes are within texts of members, of which only the end matters
        if (this.#depth >= 0 && !this.#isEscaped) i = endOfPlain(piece, i);
        if (i < piece.length) this.#inside(piece[i] as number);
        continue;
      }
      const byte = piece[i] as number;
      if (byte === QUOTE) {
        if (this.#depth === 0) throw malformed("a list has a text");
        this.#inText = true;
        this.#matched = 0;
        this.#seen = null;
      } else if (this.#depth < 0) {
        if (!this.#opensList(byte)) continue;
        this.#rest.add(piece.subarray(from, i + 1));
        this.#requireShort();
        this.#depth = 0;
        from = i + 1;
      } else if (byte === OPEN || byte === OPEN_LIST) {
        if (this.#depth === 0) {
          if (byte === OPEN_LIST) throw malformed("a list has a list");
          from = i;
        }
        this.#depth += 1;
      } else if (this.#depth === 0) {
        if (byte === CLOSE_LIST) {
          this.#rest.add(this.#encoder.encode(String(this.#members.end())));
          this.#depth = -1;
          from = i;
        } else if (byte > LAST_BLANK && byte !== COMMA) throw malformed("a list has no objects");
      } else if (byte === CLOSE || byte === CLOSE_LIST) {
        this.#depth -= 1;
        if (this.#depth === 0) this.#member(piece.subarray(from, i + 1));
      }
    }
    if (this.#depth < 0) {
      this.#rest.add(piece.subarray(from));
      this.#requireShort();
    } else if (this.#depth > 0) this.#begin(piece.subarray(from));
  }

  /** The text without its lists, after its last piece. @throws {ChainUnavailable} `malformed` where it is crowded */
  end(): string {
    return this.#decoder.decode(uncrowded(this.#rest.take()));
  }

  /** A letter within a text. */
  #inside(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) {
      this.#isEscaped = true;
      this.#matched = -1;
    } else if (byte === QUOTE) {
      this.#inText = false;
      this.#seen = this.#depth < 0 && this.#matched === this.#name.length ? "name" : null;
    } else if (this.#matched >= 0) {
      this.#matched = this.#name[this.#matched] === byte ? this.#matched + 1 : -1;
    }
  }

  /** True where a letter outside of texts opens a list of the name. */
  #opensList(byte: number): boolean {
    if (byte <= LAST_BLANK) return false;
    const opens = byte === OPEN_LIST && this.#seen === "colon";
    this.#seen = byte === COLON && this.#seen === "name" ? "colon" : null;
    return opens;
  }

  /** Keeps a part of a member whose end is not there yet. */
  #begin(part: Uint8Array): void {
    if (this.#begun.size + part.length > LONGEST_MEMBER_BYTES) {
      throw malformed(`a member of a list has more than ${LONGEST_MEMBER_BYTES} bytes`);
    }
    this.#begun.add(part);
  }

  #member(last: Uint8Array): void {
    let bytes = last;
    if (this.#begun.size > 0) {
      this.#begin(last);
      bytes = this.#begun.take();
    }
    this.#members.member(jsonOf(this.#decoder.decode(uncrowded(bytes))));
  }

  #requireShort(): void {
    if (this.#rest.size > LONGEST_REST_BYTES) {
      throw malformed(`it has more than ${LONGEST_REST_BYTES} bytes besides its lists`);
    }
  }
}

/** @throws {ChainUnavailable} `malformed` for a text that would hold the thread */
function uncrowded(bytes: Uint8Array): Uint8Array {
  if (isCrowded(bytes)) throw malformed("it has too many members");
  return bytes;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed("a member of a list is no JSON");
  }
}
