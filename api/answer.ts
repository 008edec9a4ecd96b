/**
 * What a handler answers, before it becomes an HTTP response.
 *
 * @module
 */

/** Status, JSON body and the headers that belong to this answer. */
export interface Answer {
  readonly status: number;
  /** Written with JSON.stringify; null: no body. */
  readonly body: object | null;
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

/** The HTTP response of an answer. */
export function toResponse(answer: Answer, requestId: string): Response {
  return new Response(answer.body === null ? null : JSON.stringify(answer.body), {
    status: answer.status,
    headers: { ...COMMON_HEADERS, "x-request-id": requestId, ...answer.headers },
  });
}
