/**
 * The framing of PostgreSQL's protocol: each message is a type (one byte), its length with itself
 * but without the type (four bytes) and a body (PostgreSQL manual, chapter "Message Formats").
 *
 * @module
 */

import { Buffer } from "node:buffer";

/** Types of messages, by the byte they begin with. */
export const MESSAGE = {
  dataRow: 0x44,
  error: 0x45,
  notice: 0x4e,
  query: 0x51,
  parameterStatus: 0x53,
  sync: 0x53,
  terminate: 0x58,
  ready: 0x5a,
} as const;

/** Part of a stream: a whole message, or bytes of messages that need not be looked at. */
export type Part =
  | { readonly kind: "message"; readonly type: number; readonly bytes: Buffer }
  | { readonly kind: "bytes"; readonly bytes: Buffer };

const HEADER = 5;

/** Follows the messages of one direction of a connection, however they are cut into chunks. */
export class FrameReader {
  readonly #wanted: (type: number) => boolean;
  /** Bytes of the message under way that are still to come and need not be looked at. */
  #skip = 0;
  /** Beginning of a message that is kept until it is whole. */
  #kept: Buffer[] = [];
  #keptLength = 0;

  /** @param wanted which messages are handed out whole */
  constructor(wanted: (type: number) => boolean) {
    this.#wanted = wanted;
  }

  /**
   * Reads on.
   *
   * @param seen called with the type of every message whose beginning is met
   * @returns all bytes that can be handed on, in their order
   */
  read(chunk: Buffer, seen?: (type: number) => void): Part[] {
    const parts: Part[] = [];
    let rest = chunk;
    if (this.#keptLength > 0) {
      this.#kept.push(chunk);
      this.#keptLength += chunk.length;
      const needed = this.#needed();
      if (this.#keptLength < needed) return parts;
      rest = Buffer.concat(this.#kept);
      this.#kept = [];
      this.#keptLength = 0;
    }
    let from = 0;
    let at = Math.min(this.#skip, rest.length);
    this.#skip -= at;
    while (at < rest.length) {
      const type = rest[at] ?? 0;
      const end = at + HEADER <= rest.length ? at + 1 + rest.readUInt32BE(at + 1) : Infinity;
      if (end === Infinity || (this.#wanted(type) && end > rest.length)) {
        this.#kept = [rest.subarray(at)];
        this.#keptLength = rest.length - at;
        break;
      }
      seen?.(type);
      if (this.#wanted(type)) {
        if (at > from) parts.push({ kind: "bytes", bytes: rest.subarray(from, at) });
        parts.push({ kind: "message", type, bytes: rest.subarray(at, end) });
        from = end;
      } else if (end > rest.length) {
        this.#skip = end - rest.length;
        at = rest.length;
        break;
      }
      at = end;
    }
    if (at > from) parts.push({ kind: "bytes", bytes: rest.subarray(from, at) });
    return parts;
  }

  /** Bytes that the kept message needs before it can be gone on with. */
  #needed(): number {
    if (this.#keptLength < HEADER) return HEADER;
    const head = Buffer.concat(this.#kept.length > 1 ? this.#kept : [...this.#kept]);
    if (this.#kept.length > 1) this.#kept = [head];
    return this.#wanted(head[0] ?? 0) ? 1 + head.readUInt32BE(1) : HEADER;
  }
}

/** The fields of an error or a notice, by their letter: `C` is the code, `M` the message. */
export function fieldsOf(message: Buffer): Readonly<Record<string, string>> {
  const texts = message.toString("utf8", HEADER).split("\0").filter((text) => text !== "");
  return Object.fromEntries(texts.map((text) => [text.charAt(0), text.slice(1)]));
}

/** Name and value of a setting that the server tells. */
export function parameterOf(message: Buffer): readonly [name: string, value: string] {
  const [name = "", value = ""] = message.toString("utf8", HEADER).split("\0");
  return [name, value];
}

/** The text of a row's first column; empty where it is null. */
export function firstColumnOf(message: Buffer): string {
  const length = message.readInt32BE(HEADER + 2);
  return length < 0 ? "" : message.toString("utf8", HEADER + 6, HEADER + 6 + length);
}

/** The state of a session that is in no transaction, as {@linkcode transactionStateOf} returns it. */
export const NO_TRANSACTION = 0x49;

/** The state of the session that the end of an answer names: idle, in a transaction, or in a failed one. */
export function transactionStateOf(ready: Buffer): number {
  return ready[HEADER] ?? 0;
}

/** A statement for the simple protocol. */
export function simpleQuery(text: string): Buffer {
  const body = Buffer.from(`${text}\0`);
  const message = Buffer.alloc(HEADER + body.length);
  message[0] = MESSAGE.query;
  message.writeUInt32BE(4 + body.length, 1);
  body.copy(message, HEADER);
  return message;
}
