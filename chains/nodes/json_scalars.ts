/**
 * Texts, numbers and other words of a JSON text that comes in pieces, as strict as JSON.parse.
 *
 * @module
 */

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
import { malformed } from "./json_grammar.ts";

const encoder = new TextEncoder();
const SHORT_ESCAPES = new Set(encoder.encode('"\\/bfnrt'));
const LETTER_U = 0x75;
const LITERALS = ["true", "false", "null"].map((word) => encoder.encode(word));

/** A text, from behind its first quote. */
export class JsonText {
  /** Part of an escape that comes next: its letter, or so many hexadecimal digits. */
  #escape: "none" | "letter" | "digits" = "none";
  #digits = 0;
  #hasEscapes = false;

  /** True once the present text has an escape. */
  get hasEscapes(): boolean {
    return this.#hasEscapes;
  }

  begin(): void {
    this.#escape = "none";
    this.#hasEscapes = false;
  }

  /** The place of the quote that ends it; the piece's end where none does. @throws {ChainUnavailable} `malformed` */
  endIn(piece: Uint8Array, from: number): number {
    let i = from;
    for (; i < piece.length; i++) {
      if (this.#escape !== "none") {
        this.#escaped(piece[i] as number);
        continue;
      }
      while (i < piece.length && isPlain(piece[i] as number)) i++;
      const byte = piece[i];
      if (byte === undefined || byte === QUOTE) break;
      if (byte !== BACKSLASH) throw malformed("a text of it has a control character");
      this.#escape = "letter";
      this.#hasEscapes = true;
    }
    return i;
  }

  #escaped(byte: number): void {
    if (this.#escape === "letter") {
      if (byte !== LETTER_U && !SHORT_ESCAPES.has(byte)) throw malformed("an escape of it is none");
      this.#escape = byte === LETTER_U ? "digits" : "none";
      this.#digits = 4;
      return;
    }
    if (!isHexDigit(byte)) throw malformed("an escape of it is none");
    this.#digits -= 1;
    if (this.#digits === 0) this.#escape = "none";
  }
}

function isPlain(byte: number): boolean {
  return byte !== QUOTE && byte !== BACKSLASH && byte >= LAST_BLANK;
}

function isHexDigit(byte: number): boolean {
  const small = byte | 0x20;
  return isDigit(byte) || (small >= 0x61 && small <= 0x66);
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** The part of a number that was read last. */
type NumberStep =
  | "minus"
  | "zero"
  | "whole"
  | "point"
  | "decimals"
  | "exponent"
  | "exponent sign"
  | "exponent digits";

/** A number, true, false or null. */
export class JsonWord {
  #number: NumberStep | null = null;
  #literal: Uint8Array | null = null;
  #length = 0;

  /** Nothing of it was read. */
  begin(): void {
    this.#number = null;
    this.#literal = null;
    this.#length = 0;
  }

  /** The place behind what belongs to it. @throws {ChainUnavailable} `malformed` */
  endIn(piece: Uint8Array, from: number): number {
    let i = from;
    for (; i < piece.length; i++) {
      const byte = piece[i] as number;
      if (!isOfWord(byte)) break;
      if (this.#length > 0 && this.#literal === null) this.#number = nextStep(this.#number, byte);
      else this.#letter(byte);
      this.#length += 1;
    }
    return i;
  }

  /** It has ended. @throws {ChainUnavailable} `malformed` where it is not whole */
  end(): void {
    const isWhole = this.#literal === null
      ? isNumber(this.#number)
      : this.#length === this.#literal.length;
    if (!isWhole) throw wrongWord();
  }

  #letter(byte: number): void {
    if (this.#length === 0) {
      this.#literal = LITERALS.find(([first]) => first === byte) ?? null;
      if (this.#literal === null) this.#number = nextStep(null, byte);
    } else if (this.#literal?.[this.#length] !== byte) throw wrongWord();
  }
}

function wrongWord() {
  return malformed("a word of it is neither a number nor true, false or null");
}

function isOfWord(byte: number): boolean {
  return byte > LAST_BLANK && byte !== COMMA && byte !== CLOSE && byte !== CLOSE_LIST &&
    byte !== COLON && byte !== QUOTE && byte !== OPEN && byte !== OPEN_LIST;
}

const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const ZERO = 0x30;
const SMALL_E = 0x65;

/** @param step null: nothing of the number was read @throws {ChainUnavailable} `malformed` */
function nextStep(step: NumberStep | null, byte: number): NumberStep {
  switch (step) {
    case null:
      if (byte === MINUS) return "minus";
      if (byte === ZERO) return "zero";
      if (isDigit(byte)) return "whole";
      break;
    case "minus":
      if (byte === ZERO) return "zero";
      if (isDigit(byte)) return "whole";
      break;
    case "zero":
    case "whole":
      if (step === "whole" && isDigit(byte)) return "whole";
      if (byte === POINT) return "point";
      if ((byte | 0x20) === SMALL_E) return "exponent";
      break;
    case "point":
      if (isDigit(byte)) return "decimals";
      break;
    case "decimals":
      if (isDigit(byte)) return "decimals";
      if ((byte | 0x20) === SMALL_E) return "exponent";
      break;
    case "exponent":
      if (byte === PLUS || byte === MINUS) return "exponent sign";
      if (isDigit(byte)) return "exponent digits";
      break;
    case "exponent sign":
    case "exponent digits":
      if (isDigit(byte)) return "exponent digits";
      break;
  }
  throw wrongWord();
}

function isNumber(step: NumberStep | null): boolean {
  return step === "zero" || step === "whole" || step === "decimals" || step === "exponent digits";
}
