/**
 * Answers of handlers, and the HTTP responses that are made of them. A long list is written in
 * portions, between which others are served: one thread writes for everybody.
 *
 * @module
 */

import { delay } from "../../ledger/database/delay.ts";

/** Characters of JSON after which a piece is complete. */
export const PORTION = 65_536;

const utf8 = new TextEncoder();

/** A text in UTF-8, in pieces that are short work each, however long the whole is. */
class Pieces {
  readonly #encoded: Uint8Array<ArrayBuffer>[] = [];
  #text = "";
  #bytes = 0;

  /** Goes on with a text. */
  add(text: string): void {
    this.#text += text;
    if (this.#text.length >= PORTION) this.#encode();
  }

  /** Goes on with what was written already. */
  join(others: Pieces): void {
    if (others.#encoded.length > 0) {
      this.#encode();
      for (const piece of others.#encoded) this.#push(piece);
    }
    this.add(others.#text);
  }

  /** Pieces that are complete. */
  get complete(): number {
    return this.#encoded.length;
  }

  /** The whole as one text where it is short, otherwise its pieces. */
  finish(): string | EncodedBody {
    if (this.#encoded.length === 0) return this.#text;
    this.#encode();
    return { pieces: this.#encoded, bytes: this.#bytes };
  }

  #encode(): void {
    if (this.#text === "") return;
    this.#push(utf8.encode(this.#text));
    this.#text = "";
  }

  #push(piece: Uint8Array<ArrayBuffer>): void {
    this.#encoded.push(piece);
    this.#bytes += piece.byteLength;
  }
}

/** A long body as it is sent, piece by piece. */
export interface EncodedBody {
  readonly pieces: readonly Uint8Array<ArrayBuffer>[];
  /** Of all pieces together. */
  readonly bytes: number;
}

/**
 * A list in the body of an answer whose rows are written as they are read: none of them is kept, so
 * that a list of large rows costs no more memory than its bytes, and one thread never has more to do
 * at a time than the rows which arrived together.
 */
export class WrittenRows {
  readonly #pieces = new Pieces();
  #count = 0;

  /** Writes the next row. */
  add(row: object): void {
    this.#pieces.add((this.#count++ === 0 ? "[" : ",") + JSON.stringify(row));
  }

  /** Goes on in a body with the whole list. */
  writeTo(body: Pieces): void {
    if (this.#count === 0) body.add("[");
    body.join(this.#pieces);
    body.add("]");
  }
}

/** Status, body and the headers that belong to this answer. */
export interface Answer {
  readonly status: number;
  /** An object is written as JSON, a text and bytes as they are; null: no body. */
  readonly body: object | string | Uint8Array<ArrayBuffer> | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Text of the error body of the interface, with the extra fields of the particular error. */
export interface ErrorBody {
  readonly error: string;
  /** For programs: one word per error, whatever its text says. */
  readonly code: string;
  readonly message?: string;
  readonly details?: readonly Detail[] | object;
  readonly [extra: string]: unknown;
}

/** One fault of a request. Values are never repeated: they may be secrets. */
export interface Detail {
  readonly path: readonly string[];
  readonly message: string;
  readonly code: string;
}

/** 200 with a body. */
export function ok(body: object): Answer {
  return { status: 200, body };
}

/** 201 with a body. */
export function created(body: object): Answer {
  return { status: 201, body };
}

/**
 * The HTTP response of an answer.
 *
 * @param body as {@linkcode writeBody} wrote it
 * @param transport headers of all answers
 * @param limits headers of what the request counted against
 */
export function toResponse(
  answer: Pick<Answer, "status" | "headers">,
  body: Written,
  requestId: string,
  transport: Answer["headers"] = NO_HEADERS,
  limits: Answer["headers"] = NO_HEADERS,
): Response {
  const { status } = answer;
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-request-id": requestId,
    ...transport,
    ...limits,
    ...answer.headers,
  };
  if (body === null || typeof body === "string" || body instanceof Uint8Array) {
    return new Response(body, { status, headers });
  }
  // the whole is there before the first byte is sent: no answer ends halfway for a read that failed
  headers["content-length"] = String(body.bytes);
  return new Response(streamOf(body.pieces), { status, headers });
}

const NO_HEADERS = {};

/** Sends piece by piece, the next one when the client has taken the one before. */
function streamOf(pieces: EncodedBody["pieces"]): ReadableStream<Uint8Array<ArrayBuffer>> {
  let next = 0;
  return new ReadableStream({
    pull(controller) {
      const piece = pieces[next++];
      if (piece !== undefined) controller.enqueue(piece);
      if (next >= pieces.length) controller.close();
    },
  }, { highWaterMark: 0 });
}

/** A body as it is sent; null: none. */
export type Written = string | Uint8Array<ArrayBuffer> | EncodedBody | null;

/** Shorter lists are written at once. */
const MANY_ROWS = 10;

/**
 * Writes the body of an answer. A list of large rows is written in portions, between which others
 * are served: one thread writes for everybody.
 */
export function writeBody(body: Answer["body"]): Written | Promise<Written> {
  if (body === null || typeof body === "string" || body instanceof Uint8Array) return body;
  if (Array.isArray(body)) return JSON.stringify(body);
  const isLong = Object.values(body).some(isList);
  return isLong ? writeFields(Object.entries(body)) : JSON.stringify(body);
}

/** Writes the body of an answer that is known to be small. */
export function writeSmall(body: Answer["body"]): Written {
  const isWritten = body === null || typeof body === "string" || body instanceof Uint8Array;
  return isWritten ? body : JSON.stringify(body);
}

function isList(value: unknown): boolean {
  return value instanceof WrittenRows || (Array.isArray(value) && value.length >= MANY_ROWS);
}

async function writeFields(
  entries: readonly (readonly [string, unknown])[],
): Promise<string | EncodedBody> {
  const out = new Pieces();
  let before = "{";
  for (const [name, value] of entries) {
    if (value === undefined) continue;
    out.add(`${before}${JSON.stringify(name)}:`);
    before = ",";
    if (value instanceof WrittenRows) value.writeTo(out);
    else if (Array.isArray(value)) await writeRows(value, out);
    else out.add(JSON.stringify(value) ?? "null");
  }
  out.add(before === "{" ? "{}" : "}");
  return out.finish();
}

/** Writes a list; after each portion others have their turn. */
async function writeRows(rows: readonly unknown[], out: Pieces): Promise<void> {
  out.add("[");
  for (let i = 0; i < rows.length; i++) {
    const { complete } = out;
    out.add((i === 0 ? "" : ",") + (JSON.stringify(rows[i]) ?? "null"));
    if (out.complete > complete) await delay(0);
  }
  out.add("]");
}

/** Bytes of a body, or, of a text, its characters. */
export function sizeOf(written: Written): number {
  if (written === null) return 0;
  if (typeof written === "string") return written.length;
  return written instanceof Uint8Array ? written.byteLength : written.bytes;
}
