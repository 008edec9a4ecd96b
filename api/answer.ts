/**
 * What a handler answers, before it becomes an HTTP response.
 *
 * @module
 */

/** Status, body and the headers that belong to this answer. */
export interface Answer {
  readonly status: number;
  /** An object is written as JSON, a text as it is; null: no body. */
  readonly body: object | string | null;
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
  const { body } = answer;
  return new Response(typeof body === "object" && body !== null ? JSON.stringify(body) : body, {
    status: answer.status,
    headers: { ...COMMON_HEADERS, "x-request-id": requestId, ...answer.headers },
  });
}
