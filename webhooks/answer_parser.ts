/**
 * Reads the answer to one HTTP/1.1 request (RFC 9112) as its bytes arrive. Strict on purpose: what is
 * not exactly an answer is none, and nothing that follows one is taken for the next.
 *
 * @module
 */

import type { Buffer } from "node:buffer";

/** An answer, read to its end or to the most that is read. */
export interface Answer {
  readonly status: number;
  readonly body: Uint8Array;
  /** There is more of the body than is read, or it is in more chunks. */
  readonly isTooLong: boolean;
  /** Time for which its connection may be kept for the next request, milliseconds; 0: it may not. */
  readonly idleMs: number;
}

/** The other end sent something that is no answer. */
export class MalformedAnswer extends Error {
  readonly code = "MALFORMED_ANSWER";

  constructor(reason: string) {
    super(`Cannot read an answer as ${reason}`);
    this.name = "MalformedAnswer";
  }
}

/** Bytes of a body that are read. */
const READ_CAP = 65_536;
/** Chunks of a body that are read: of a byte each, 64 kB held the thread that calls all endpoints for 40 ms. */
const CHUNKS = 1_024;

/** Bytes of all heads, extensions of chunks and trailers together, as node:http has it. */
const HEAD_CAP = 16_384;
const LINE_CAP = 1_024;

/** The longest that a connection is kept without use. */
const IDLE_MS = 15_000;
/** An endpoint that names a limit of its own closes at that very time: ours ends before it. */
const IDLE_MARGIN_MS = 1_000;

const NOTHING = new Uint8Array(0);
const VERSION = "HTTP/1.";
const HEAD_END = "\r\n\r\n";
const LINE_FEED = 10;
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t\x20-\x7e\x80-\xff]*)$/;
const CHUNK_SIZE = /^([0-9a-fA-F]{1,8})([\t ]*(?:;[\t\x20-\x7e\x80-\xff]*)?)$/;

/** Sign of a body's end: its length, its chunks, or the end of the connection. */
type Framing = "head" | "length" | "chunked" | "close";

/** Reads one answer. */
export class AnswerParser {
  #framing: Framing = "head";
  /** A head, or a line of a chunked body, that has not ended yet. */
  #partial = "";
  #headBytes = 0;
  #status = 0;
  #idleMs = 0;
  /** Bytes that are still to come of a body or of a chunk. */
  #needed = 0;
  #line: "size" | "end of data" | "trailer" = "size";
  #chunks = 0;
  /** The part of the body that was read, and behind it room for more: many small pieces hold much memory. */
  #body: Uint8Array = NOTHING;
  #size = 0;
  #hasBegun = false;

  /** True if anything has arrived. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /**
   * Takes what has arrived.
   *
   * @returns the answer, null while there is more to come
   * @throws {MalformedAnswer}
   */
  push(bytes: Buffer): Answer | null {
    this.#hasBegun = true;
    let rest = bytes;
    while (this.#framing === "head") {
      const body = this.#readHead(rest);
      if (body === null) return null;
      rest = body;
    }
    switch (this.#framing) {
      case "length":
        return this.#readLength(rest);
      case "chunked":
        return this.#readChunks(rest);
      case "close":
        return this.#collect(rest) ? null : this.#answer(true, 0);
      default:
        return this.#framing satisfies never;
    }
  }

  /** The other end has closed. @returns the answer that ends by that; null: it was broken off */
  end(): Answer | null {
    return this.#framing === "close" ? this.#answer(false, 0) : null;
  }

  /** @returns what follows the head, null while it has no end */
  #readHead(bytes: Buffer): Buffer | null {
    const before = this.#partial.length;
    // one byte more than is read shows that it is too much
    const text = this.#partial + bytes.toString("latin1", 0, HEAD_CAP + 1 - this.#headBytes);
    // a server that speaks something else may wait for an answer
    if (before < VERSION.length && !text.startsWith(VERSION.slice(0, text.length))) {
      throw new MalformedAnswer("it has no status");
    }
    const end = text.indexOf(HEAD_END, Math.max(before - HEAD_END.length, 0));
    this.#count((end < 0 ? text.length : end + HEAD_END.length) - before);
    if (end < 0) {
      this.#partial = text;
      return null;
    }
    this.#partial = "";
    this.#takeHead(text.slice(0, end).split("\r\n"));
    return bytes.subarray(end + HEAD_END.length - before);
  }

  #takeHead([statusLine = "", ...lines]: readonly string[]): void {
    const [, minor, code] = STATUS_LINE.exec(statusLine) ?? [];
    if (code === undefined) throw new MalformedAnswer("it has no status");
    const fields = readFields(lines);
    this.#status = Number(code);
    if (this.#status === 101) throw new MalformedAnswer("it changes the protocol");
    // what is only informational is followed by the answer
    if (this.#status < 200) return;
    this.#idleMs = idleMs(fields, minor === "1");
    const { length, coding } = fields;
    if (this.#status === 204 || this.#status === 304) {
      // such an answer has no body: one that is announced may come all the same, as what answers next
      if (coding !== null || (length ?? "0") !== "0") this.#idleMs = 0;
      this.#framing = "length";
    } else if (coding !== null) {
      if (length !== null || minor === "0" || coding !== "chunked") {
        throw new MalformedAnswer("where it ends is not said in one way");
      }
      this.#framing = "chunked";
    } else if (length !== null) {
      if (!/^\d{1,15}$/.test(length)) throw new MalformedAnswer("its length is no number");
      this.#needed = Number(length);
      this.#framing = "length";
    } else {
      this.#framing = "close";
    }
  }

  #readLength(bytes: Buffer): Answer | null {
    const isMore = bytes.length > this.#needed;
    const piece = isMore ? bytes.subarray(0, this.#needed) : bytes;
    this.#needed -= piece.length;
    if (!this.#collect(piece)) return this.#answer(true, 0);
    // bytes after the end belong to nothing that was asked
    return this.#needed > 0 ? null : this.#answer(false, isMore ? 0 : this.#idleMs);
  }

  #readChunks(bytes: Buffer): Answer | null {
    let at = 0;
    while (at < bytes.length) {
      if (this.#needed > 0) {
        const piece = bytes.subarray(at, at + this.#needed);
        at += piece.length;
        this.#needed -= piece.length;
        if (!this.#collect(piece)) return this.#answer(true, 0);
        continue;
      }
      const feed = bytes.indexOf(LINE_FEED, at);
      const end = feed < 0 ? bytes.length : feed + 1;
      this.#partial += bytes.toString("latin1", at, end);
      at = end;
      if (this.#partial.length > LINE_CAP) throw new MalformedAnswer("a line has no end");
      if (feed < 0) return null;
      if (!this.#partial.endsWith("\r\n")) throw new MalformedAnswer("a line has no proper end");
      const line = this.#partial.slice(0, -2);
      this.#partial = "";
      if (this.#takeLine(line)) return this.#answer(false, at < bytes.length ? 0 : this.#idleMs);
      if (this.#chunks > CHUNKS) return this.#answer(true, 0);
    }
    return null;
  }

  /** @returns whether it was the last */
  #takeLine(line: string): boolean {
    switch (this.#line) {
      case "size": {
        const [, digits, extension = ""] = CHUNK_SIZE.exec(line) ?? [];
        if (digits === undefined) throw new MalformedAnswer("a chunk has no size");
        this.#count(extension.length);
        this.#needed = Number.parseInt(digits, 16);
        this.#line = this.#needed === 0 ? "trailer" : "end of data";
        if (this.#needed > 0) this.#chunks++;
        return false;
      }
      case "end of data":
        if (line !== "") throw new MalformedAnswer("a chunk is longer than its size");
        this.#line = "size";
        return false;
      case "trailer":
        if (line === "") return true;
        if (!FIELD.test(line)) throw new MalformedAnswer("a field has no name");
        this.#count(line.length);
        return false;
      default:
        return this.#line satisfies never;
    }
  }

  #count(bytes: number): void {
    this.#headBytes += bytes;
    if (this.#headBytes > HEAD_CAP) throw new MalformedAnswer("its head is too long");
  }

  /** @returns whether that is no more than is read */
  #collect(piece: Uint8Array): boolean {
    const size = this.#size + piece.length;
    if (this.#size === 0) {
      // nearly every body comes in one piece
      this.#body = piece;
    } else {
      if (size > this.#body.length) this.#body = enlarged(this.#body, size);
      this.#body.set(piece, this.#size);
    }
    this.#size = size;
    return size <= READ_CAP;
  }

  #answer(isTooLong: boolean, idleMs: number): Answer {
    const body = this.#body.length === this.#size ? this.#body : this.#body.subarray(0, this.#size);
    return { status: this.#status, body, isTooLong, idleMs };
  }
}

/** Fields of a head that say where the answer ends, and what follows. */
interface Fields {
  length: string | null;
  coding: string | null;
  connection: string;
  keepAlive: string;
}

function readFields(lines: readonly string[]): Fields {
  const fields: Fields = { length: null, coding: null, connection: "", keepAlive: "" };
  for (const line of lines) {
    const [, name, text] = FIELD.exec(line) ?? [];
    if (name === undefined || text === undefined) throw new MalformedAnswer("a field has no name");
    switch (name.toLowerCase()) {
      case "content-length":
        if (fields.length !== null) throw new MalformedAnswer("it has two lengths");
        fields.length = trim(text);
        break;
      case "transfer-encoding": {
        const coding = trim(text).toLowerCase();
        // application servers are known to say it twice, once each by two of their layers
        if (fields.coding !== null && coding !== fields.coding) {
          throw new MalformedAnswer("it is coded twice");
        }
        fields.coding = coding;
        break;
      }
      case "connection":
        fields.connection += `,${text.toLowerCase()}`;
        break;
      case "keep-alive":
        fields.keepAlive = text;
        break;
      default:
    }
  }
  return fields;
}

/** Time for which the connection may be kept, milliseconds; 0: not at all. */
function idleMs({ connection, keepAlive }: Fields, isPersistent: boolean): number {
  const options = connection.split(",").map(trim);
  if (options.includes("close")) return 0;
  if (!isPersistent && !options.includes("keep-alive")) return 0;
  const [, seconds] = /\btimeout=(\d{1,9})/i.exec(keepAlive) ?? [];
  if (seconds === undefined) return IDLE_MS;
  return Math.max(Math.min(IDLE_MS, Number(seconds) * 1_000 - IDLE_MARGIN_MS), 0);
}

/** Without the spaces and tabs around it; String's own takes more for space than HTTP does. */
function trim(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isSpace(text, from)) from++;
  while (to > from && isSpace(text, to - 1)) to--;
  return text.slice(from, to);
}

function isSpace(text: string, at: number): boolean {
  return text[at] === " " || text[at] === "\t";
}

/** A copy with room for so many bytes, and for more. */
function enlarged(bytes: Uint8Array, size: number): Uint8Array {
  const copy = new Uint8Array(Math.max(size, bytes.length * 2));
  copy.set(bytes);
  return copy;
}
