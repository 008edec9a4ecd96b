/**
 * Reads the body of an answer into memory that is used again: blocks of a busy chain are megabytes
 * long, and to make and to forget that much for each cost more than reading it. An answer that may be longer than any
 * memory should hold is given on in pieces.
 *
 * @module
 */

import { isCrowded } from "./crowded_text.ts";
import { OverlongAnswer } from "./node_failures.ts";

/** Far above an answer of a few values, such as numbers, a hash or an error. */
export const SHORT_BODY_BYTES = 64 * 1024;
/** Above what any block can have: each of its bytes was paid for with gas. */
const MAX_LONG_BYTES = 1024 * 1024 * 1024;
const FIRST_SIZE = 256 * 1024;
/** Room for what a connection gives at once; with less left, the buffer is doubled. */
const LEAST_ROOM = 64 * 1024;
/** Bytes of a piece at most: handling one is a matter of milliseconds. */
const PIECE_BYTES = 128 * 1024;
/** Most bytes that are kept for later answers, all buffers together. */
const MAX_IDLE_BYTES = 16 * 1024 * 1024;

/** Takes a body in pieces, once it is too long for one text. */
export interface LongBody {
  /** Bytes up to which a body is read as one text all the same. */
  readonly from: number;
  /** Bytes of it at most; default above what any block can have. */
  readonly mostBytes?: number;
  /** The body is longer: what was read of it comes first. Waits until there is room for it. */
  begin(signal: AbortSignal | undefined): Promise<void>;
  /** The next piece; it is overwritten after that. */
  take(piece: Uint8Array): Promise<void>;
  /** The text that stands for the body, after its last piece. */
  end(): string;
}

const decoder = new TextDecoder();
const idle: ArrayBuffer[] = [];
let idleBytes = 0;

function take(): ArrayBuffer {
  const buffer = idle.pop();
  if (buffer === undefined) return new ArrayBuffer(FIRST_SIZE);
  idleBytes -= buffer.byteLength;
  return buffer;
}

function giveBack(buffer: ArrayBuffer): void {
  if (idleBytes + buffer.byteLength > MAX_IDLE_BYTES) return;
  idleBytes += buffer.byteLength;
  idle.push(buffer);
}

/** Terms on which a body is read. */
export interface BodyTerms {
  readonly signal?: AbortSignal;
  /** Bytes of it at most, where it is one text; default {@linkcode SHORT_BODY_BYTES}. */
  readonly mostBytes?: number | undefined;
  /** Absent: the body is one text. */
  readonly long?: LongBody | undefined;
  /** Called before a long body waits for its turn, and then before each piece of it. */
  readonly onLong?: (is: "waiting" | "coming") => void;
}

/**
 * A body as text; of a long one, the text that stands for it.
 *
 * @param place named when it is too large
 * @throws {OverlongAnswer} when it is larger than it may be, or has more members than any real one
 * @throws {Error} when the connection ends before it; then the buffer is left to the collector
 */
export async function readBody(
  response: Response,
  place: string,
  terms: BodyTerms = {},
): Promise<string> {
  if (response.body === null) return "";
  const reader = response.body.getReader({ mode: "byob" });
  try {
    const mostBytes = terms.long?.from ?? terms.mostBytes ?? SHORT_BODY_BYTES;
    const { bytes, isWhole } = await readUpTo(reader, place, mostBytes);
    if (!isWhole) {
      if (terms.long === undefined) throw tooLarge(mostBytes, place);
      return await readOn(reader, bytes, place, terms.long, terms);
    }
    if (isCrowded(bytes)) {
      throw new OverlongAnswer(`Cannot read an answer as it has too many members: ${place}`);
    }
    const text = decoder.decode(bytes);
    giveBack(bytes.buffer);
    return text;
  } catch (error) {
    // the rest is not wanted; a connection that failed fails to be given up as well
    await reader.cancel().catch(() => {});
    throw error;
  }
}

function tooLarge(most: number, place: string): OverlongAnswer {
  return new OverlongAnswer(`Cannot read an answer as it is larger than ${most} bytes: ${place}`);
}

/** Reads until the end, or until there are more bytes than that. */
async function readUpTo(
  reader: ReadableStreamBYOBReader,
  place: string,
  most: number,
): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly isWhole: boolean }> {
  let buffer = take();
  let size = 0;
  while (true) {
    if (buffer.byteLength - size < LEAST_ROOM) buffer = buffer.transfer(2 * buffer.byteLength);
    const { value, done } = await reader.read(new Uint8Array(buffer, size));
    if (value === undefined) throw new Error(`the body was given up: ${place}`);
    // the same memory, which belongs to the new buffer now
    buffer = value.buffer;
    size += value.byteLength;
    if (done || size > most) return { bytes: new Uint8Array(buffer, 0, size), isWhole: done };
  }
}

/** Gives on what was read, and the rest as it comes. */
async function readOn(
  reader: ReadableStreamBYOBReader,
  first: Uint8Array<ArrayBuffer>,
  place: string,
  long: LongBody,
  { signal, onLong }: BodyTerms,
): Promise<string> {
  onLong?.("waiting");
  await long.begin(signal);
  for (let at = 0; at < first.length; at += PIECE_BYTES) {
    await long.take(first.subarray(at, at + PIECE_BYTES));
  }
  const { mostBytes = MAX_LONG_BYTES } = long;
  let size = first.length;
  giveBack(first.buffer);
  let buffer = new ArrayBuffer(PIECE_BYTES);
  while (true) {
    onLong?.("coming");
    const { value, done } = await reader.read(new Uint8Array(buffer));
    if (value === undefined) throw new Error(`the body was given up: ${place}`);
    buffer = value.buffer;
    size += value.byteLength;
    await long.take(value);
    if (done) return long.end();
    if (size > mostBytes) throw tooLarge(mostBytes, place);
  }
}
