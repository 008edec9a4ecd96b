/**
 * Reads one answer that may be long: from a bound on piece by piece, for the fields alone that its shape names, so
 * that it holds the thread for no longer than any other.
 *
 * @module
 */

import { FieldPicker, type Objects } from "../../nodes/field_picker.ts";
import type { AnswerShape } from "../../nodes/json_rpc.ts";
import type { LongAnswer } from "../../nodes/node.ts";
import { Slices } from "../../nodes/slices.ts";

/** Bytes that are read as one text: the worst of them hold the thread for some ten milliseconds. */
const ONE_TEXT_BYTES = 512 * 1024;
/**
 * Memory for what is of use in one answer, in bytes of its text: forty thousand transfers, more than blocks of TRON have. A
 * dozen answers may be read at once.
 */
export const KEPT_BYTES = 16 * 1024 * 1024;
/** The same of a block beside which nothing is read: more than all energy of a block's time pays for. */
export const KEPT_ALONE_BYTES = 64 * 1024 * 1024;

/** The fields that a long answer is read for, and what is made of them. */
interface LongForm<T> {
  readonly parts: Objects;
  /** Takes a member of a list. @throws {ChainUnavailable} `malformed` */
  member(list: string, json: unknown): void;
  /** Shape of the text without these members, and the answer of both. */
  readonly shape: AnswerShape<T>;
}

/** Shape of an answer that may be long. */
export interface LongShape<T> extends AnswerShape<T> {
  /** Begins to read one that is. @param mostKeptBytes of what is of use in it */
  begin(mostKeptBytes: number): LongForm<T>;
}

/** Terms on which an answer is read that may be long. */
export interface LongTerms {
  /** So many times the usual bound of a request it has until it proves long, and from then on between two pieces. */
  readonly timeFactor: number;
  /** Bound of reading it from then on, milliseconds, as long as it keeps coming. */
  readonly wholeMs: number;
  /** Bytes of what is of use in it at most. */
  readonly mostKeptBytes: number;
  /** Bytes of it at most; default by its call, see `answer_sizes.ts`. */
  readonly mostBytes?: number | undefined;
}

/** Those of an answer that is no block's. */
const USUAL_TERMS: LongTerms = { timeFactor: 1, wholeMs: 15_000, mostKeptBytes: KEPT_BYTES };

/** True for the shape of an answer that may be long. */
export function isLong<T>(shape: AnswerShape<T>): shape is LongShape<T> {
  return "begin" in shape;
}

/** Reads one answer, which may prove long. */
export class LongRead<T> implements LongAnswer {
  readonly from = ONE_TEXT_BYTES;
  readonly timeFactor: number;
  readonly wholeMs: number;
  readonly #form: LongForm<T>;
  readonly #picker: FieldPicker;
  readonly #slices = new Slices();
  hasBegun = false;

  constructor(shape: LongShape<T>, readonly mostBytes: number, terms: LongTerms = USUAL_TERMS) {
    this.timeFactor = terms.timeFactor;
    this.wholeMs = terms.wholeMs;
    const form = shape.begin(terms.mostKeptBytes);
    this.#form = form;
    this.#picker = new FieldPicker(form.parts, (list, json) => form.member(list, json));
  }

  /** Shape of the text that stands for the answer. */
  get shape(): AnswerShape<T> {
    return this.#form.shape;
  }

  begin(): Promise<void> {
    this.hasBegun = true;
    return Promise.resolve();
  }

  async take(piece: Uint8Array): Promise<void> {
    this.#picker.push(piece);
    await this.#slices.rest();
  }

  end(): string {
    return this.#picker.end();
  }
}
