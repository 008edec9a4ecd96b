/**
 * A client of the payments API, for Deno and Node: types of every request, time-outs, repetition
 * where it is safe, errors by code, lists row by row.
 *
 * ```ts
 * const payments = new PaymentsClient({ baseUrl: "https://pay.example", apiKey: "sk_..." });
 * const page = await payments.call("POST /api/deposit-url", {
 *   body: { network: "TRX", identifier: "customer-7", referenceId: "order-1001" },
 * });
 * ```
 *
 * @module
 */

import type { ErrorCode, Operations } from "./openapi_types.ts";

/** A request, for example `POST /api/withdrawals`. */
export type OperationName = keyof Operations;

/** Parts of a request, by the places where they are sent. */
export type CallParts<N extends OperationName> = Omit<Operations[N], "answer">;

/** Parts that a call needs to be given: none where all of them may be left out. */
type CallArguments<N extends OperationName> = Record<never, never> extends CallParts<N>
  ? [parts?: CallParts<N>, options?: CallOptions]
  : [parts: CallParts<N>, options?: CallOptions];

/** Options of one call. */
export interface CallOptions {
  /**
   * Ends the call and its repetitions. What is thrown is the signal's reason, or a `PaymentsError` where
   * the request may have been carried out.
   */
  readonly signal?: AbortSignal;
}

/** Options of a client. */
export interface ClientOptions {
  /** Address of the service, for example `https://pay.example`. */
  readonly baseUrl: string;
  /** A key of the merchant. */
  readonly apiKey: string;
  /** Bound of one attempt in milliseconds; default 30,000. */
  readonly timeoutMs?: number;
  /** Attempts of one call, the first included; default 4. */
  readonly attempts?: number;
  /**
   * The longest pause between two attempts in milliseconds, default 10,000. Where the service asks for
   * a longer one the error is thrown at once, with `retryAfterMs`.
   */
  readonly longestPauseMs?: number;
  /** Sends a request; default `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

/**
 * `no_answer`: the connection failed or the time was over. `foreign_answer`: something between here and
 * the service has answered, for example a proxy.
 */
export type FailureCode = ErrorCode | "no_answer" | "foreign_answer";

/** A call that was not successful. Compare `code`: texts are for people. */
export class PaymentsError extends Error {
  override readonly name = "PaymentsError";
  readonly operation: OperationName;
  readonly code: FailureCode;
  /** HTTP status; null without an answer. */
  readonly status: number | null;
  /** The answer's JSON, for example with `withdrawalId` beside `duplicate_reference`. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Names the request in the log of the service. */
  readonly requestId: string | null;
  /** The pause after which the same request may succeed. */
  readonly retryAfterMs: number | null;
  /** True where the request may have been carried out all the same: look it up before you repeat it. */
  readonly mayHaveHappened: boolean;
  /**
   * The `Idempotency-Key` that was sent, also one that was made for this call. To send the same request
   * again name it: a call without it makes another one.
   */
  readonly idempotencyKey: string | null;

  /** @param sent what was sent, and whether an attempt of it may have been carried out */
  constructor(
    operation: OperationName,
    failure: Failure,
    sent: Pick<PaymentsError, "mayHaveHappened" | "idempotencyKey">,
    cause?: unknown,
  ) {
    const { code, status, body, requestId, retryAfterMs } = failure;
    const text = [body["error"], body["message"]].filter((one) => typeof one === "string");
    super(`${operation}: ${code}${text.length === 0 ? "" : ` (${text.join(": ")})`}`, { cause });
    this.operation = operation;
    this.code = code;
    this.status = status;
    this.body = body;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
    this.mayHaveHappened = sent.mayHaveHappened;
    this.idempotencyKey = sent.idempotencyKey;
  }
}

type Failure = Pick<PaymentsError, "code" | "status" | "body" | "requestId" | "retryAfterMs">;

/** The service has done nothing, and the same request may succeed in a moment. */
const NOTHING_DONE: ReadonlySet<FailureCode> = new Set<FailureCode>([
  "rate_limit_exceeded",
  "unavailable",
  "withdrawal_unavailable",
]);

/** It is not known whether the request was carried out. */
const UNCERTAIN: ReadonlySet<FailureCode> = new Set<FailureCode>([
  "no_answer",
  "foreign_answer",
  "internal",
  "outcome_unknown",
]);

/** Requests that take an `Idempotency-Key`: one is made for each call that names none. */
const KEYED: ReadonlySet<string> = new Set<OperationName>([
  "POST /api/settlements",
  "POST /api/deposit-url",
]);

/** Requests that give the same result however often they are made. */
const REPEATABLE: ReadonlySet<string> = new Set<OperationName>([
  "POST /api/deposit-address",
  "POST /api/deposits/claim",
]);

/** Lists, with the field that has their rows. */
const LISTS = {
  "GET /api/deposits": "deposits",
  "GET /api/deposit-address": "addresses",
  "GET /api/deposit-url": "depositUrls",
  "GET /api/withdrawals": "withdrawals",
  "GET /api/settlements": "settlements",
  "GET /api/settlement-addresses": "settlementAddresses",
  "GET /api/transactions": "transactions",
  "GET /api/webhook-deliveries": "deliveries",
  "GET /api/merchants/{merchantId}/charges": "charges",
} as const satisfies Partial<Record<OperationName, string>>;

/** A list whose rows can be read one after the other. */
export type ListName = keyof typeof LISTS;

/** A row of a list. */
export type RowOf<N extends ListName> = Operations[N]["answer"] extends
  Readonly<Record<(typeof LISTS)[N], readonly (infer R)[]>> ? R : never;

/** A request as it is sent, whatever its operation. */
interface Parts {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly header?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const FIRST_PAUSE_MS = 250;

/** Speaks to the service with one key. */
export class PaymentsClient {
  readonly #options: Required<ClientOptions>;

  constructor(options: ClientOptions) {
    this.#options = {
      timeoutMs: 30_000,
      attempts: 4,
      longestPauseMs: 10_000,
      fetch: (url, init) => fetch(url, init),
      ...options,
      baseUrl: options.baseUrl.replace(/\/+$/, ""),
    };
  }

  /**
   * Makes a request, again where that is safe: reading and setting always, creating only where the
   * request itself says that it is the same one (`referenceId`, `Idempotency-Key`, the identifier of a
   * deposit address), or where the service says that nothing was done.
   *
   * @throws {PaymentsError} where it was not successful
   */
  async call<N extends OperationName>(
    operation: N,
    ...[parts, options]: CallArguments<N>
  ): Promise<Operations[N]["answer"]> {
    const answer = await this.#call(operation, (parts ?? {}) as Parts, options?.signal);
    return answer as Operations[N]["answer"];
  }

  /**
   * The rows of a list, newest first, page by page. Rows that are made meanwhile are not shown, and none
   * is shown twice. A row that leaves a `status` while its pages are read moves the others up, and some of
   * them are passed over: for what is still pending, and for deliveries, which can be sent again, read without
   * `status`, and look at each row's own.
   *
   * @throws {PaymentsError} where a page cannot be read
   */
  async *rows<N extends ListName>(
    operation: N,
    ...[parts, options]: CallArguments<N>
  ): AsyncGenerator<RowOf<N>, void> {
    const seen = new Set<string>();
    const given = (parts ?? {}) as Parts;
    let pages = 1;
    for (let page = 1; page <= pages; page++) {
      const query = { limit: 100, ...given.query, page };
      const answer = await this.#call(operation, { ...given, query }, options?.signal);
      const { [LISTS[operation]]: rows, pagination } = answer as Record<string, unknown>;
      pages = (pagination as { readonly pages: number }).pages;
      for (const row of rows as Awaited<RowOf<N>>[]) {
        const { id } = row as { readonly id: string };
        if (seen.has(id)) continue; // new rows have moved it to the next page
        seen.add(id);
        yield row;
      }
    }
  }

  async #call(operation: OperationName, parts: Parts, signal?: AbortSignal): Promise<unknown> {
    const { attempts, longestPauseMs } = this.#options;
    const request = requestOf(operation, parts);
    const idempotencyKey = request.headers["idempotency-key"] ?? null;
    let mayHaveHappened = false;
    for (let attempt = 1;; attempt++) {
      const outcome = await this.#attempt(request, signal);
      if ("answer" in outcome) return outcome.answer;
      const { code, retryAfterMs } = outcome.failure;
      // what an attempt without an answer has done is not undone by the refusal of a later one
      mayHaveHappened ||= request.method !== "GET" && UNCERTAIN.has(code);
      const sent = { mayHaveHappened, idempotencyKey };
      const error = new PaymentsError(operation, outcome.failure, sent, outcome.cause);
      const mayRepeat = NOTHING_DONE.has(code) || (request.isRepeatable && UNCERTAIN.has(code));
      const pauseMs = retryAfterMs ?? FIRST_PAUSE_MS * 2 ** (attempt - 1) * (1 + Math.random());
      if (!isAborted(signal)) {
        if (!mayRepeat || attempt >= attempts || pauseMs > longestPauseMs) throw error;
        await pause(pauseMs, signal);
      }
      if (isAborted(signal)) throw mayHaveHappened ? error : signal?.reason;
    }
  }

  async #attempt(
    { method, target, headers, body }: Sent,
    signal: AbortSignal | undefined,
  ): Promise<Outcome> {
    const { baseUrl, apiKey, timeoutMs } = this.#options;
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const response = await this.#options.fetch(baseUrl + target, {
        method,
        headers: { ...headers, authorization: `Bearer ${apiKey}` },
        ...(body === null ? {} : { body }),
        redirect: "error", // the key goes to the named address alone
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      });
      const text = await response.text();
      if (response.status === 204) return { answer: undefined };
      const answer = objectOf(text);
      return response.ok && answer !== null ? { answer } : { failure: failureOf(response, answer) };
    } catch (cause) {
      const nothing = { status: null, body: {}, requestId: null, retryAfterMs: null };
      return { failure: { ...nothing, code: "no_answer" }, cause };
    }
  }
}

/** Result of one attempt. */
type Outcome =
  | { readonly answer: unknown }
  | { readonly failure: Failure; readonly cause?: unknown };

/** True where the caller has given up; asked anew after each wait. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** A request, ready to be sent as often as it takes. */
interface Sent {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** True where sending it twice does what sending it once does. */
  readonly isRepeatable: boolean;
}

function requestOf(operation: OperationName, { path, query, header, body }: Parts): Sent {
  const [method = "", template = ""] = operation.split(" ");
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = path?.[name];
    if (value === undefined || value === "") {
      throw new TypeError(`Cannot make a request as a part of its path is missing: ${name}`);
    }
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) search.set(name, String(value));
  }
  const headers = new Map(Object.entries(header ?? {}).map(([n, v]) => [n.toLowerCase(), v]));
  if (KEYED.has(operation) && !headers.has("idempotency-key")) {
    headers.set("idempotency-key", crypto.randomUUID());
  }
  if (body !== undefined) headers.set("content-type", "application/json");
  return {
    method,
    target: filled + (search.size === 0 ? "" : `?${search}`),
    headers: Object.fromEntries(headers),
    body: body === undefined ? null : JSON.stringify(body),
    isRepeatable: ["GET", "PUT", "PATCH"].includes(method) || REPEATABLE.has(operation) ||
      KEYED.has(operation) || isReferenced(operation, body),
  };
}

/** A payout that names its reference is made once. */
function isReferenced(operation: OperationName, body: unknown): boolean {
  return operation === "POST /api/withdrawals" &&
    typeof (body as { readonly referenceId?: unknown } | undefined)?.referenceId === "string";
}

function failureOf(response: Response, body: Failure["body"] | null): Failure {
  const after = Number(response.headers.get("retry-after") ?? NaN);
  return {
    code: body !== null && typeof body["code"] === "string"
      ? body["code"] as ErrorCode
      : "foreign_answer",
    status: response.status,
    body: body ?? {},
    requestId: response.headers.get("x-request-id"),
    retryAfterMs: Number.isFinite(after) ? after * 1_000 : null,
  };
}

/** A text as an object of JSON; null where it is none. */
function objectOf(text: string): Failure["body"] | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value as Failure["body"] : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Waits, at most until the caller gives up. */
function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
}
