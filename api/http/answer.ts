/**
 * What a handler answers, before it becomes an HTTP response.
 *
 * @module
 */

import type { Written } from "./write_body.ts";
import type { EncodedBody } from "./written_rows.ts";

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

const COMMON_HEADERS = {
  "content-type": "application/json",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
};

/** The HTTP response of an answer. @param body as {@linkcode writeBody} wrote it */
export function toResponse(answer: Answer, body: Written, requestId: string): Response {
  const isLong = body !== null && typeof body === "object" && !(body instanceof Uint8Array);
  return new Response(isLong ? streamOf(body.pieces) : body, {
    status: answer.status,
    headers: {
      ...COMMON_HEADERS,
      "x-request-id": requestId,
      ...answer.headers,
      // the whole is there before the first byte is sent: no answer ends halfway for a read that failed
      ...(isLong ? { "content-length": String(body.bytes) } : {}),
    },
  });
}

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
