/**
 * Asks one node in JSON-RPC 2.0, in single calls and in batches. Codes and texts of errors are
 * those of a family of chains, behind a {@linkcode RpcDialect}.
 *
 * @module
 */

import { z } from "zod";
import { ChainUnavailable } from "../chain.ts";
import type { ChainNode, LongAnswer, NodeAnswer } from "./node.ts";
import { CallFailed, NotServed, RateLimited } from "./node_failures.ts";

/** Shape that an answer must have; a zod schema is one. */
export interface AnswerShape<T> {
  safeParse(json: unknown): { readonly success: true; readonly data: T } | {
    readonly success: false;
    readonly error: {
      readonly issues: readonly {
        readonly path: readonly PropertyKey[];
        readonly message: string;
      }[];
    };
  };
}

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

const errorSchema = z.object({
  code: z.int(),
  message: z.string().default(""),
  data: z.unknown().optional(),
});
/** An error as a node words it. */
export type RpcError = z.infer<typeof errorSchema>;

/** Meaning of errors to a family of chains. */
export interface RpcDialect {
  /**
   * Sorts an error: `reverted`, a simulated transaction fails; `too-many`, more was asked than is answered;
   * `unknown-method`, the node does not serve the call; `refused`, it cannot answer this one, without being
   * broken; `failed`, anything else.
   */
  kindOf(error: RpcError): "reverted" | "too-many" | "unknown-method" | "refused" | "failed";
  /** Bytes of the answer to one call of a method at most. */
  mostBytesOf(method: string): number;
}

const envelopeSchema = z.object({
  id: z.union([z.number(), z.string(), z.null()]).optional(),
  result: z.unknown().optional(),
  error: errorSchema.nullish(),
});
type RpcAnswer = z.infer<typeof envelopeSchema>;

/**
 * Bytes of an answer to several calls at most, unless one of them may have more: far above what as many blocks have
 * together. One that is full throughout is asked for alone.
 */
const MOST_BATCH_BYTES = 4 * 1024 * 1024;

/** Name under which a node is marked where it answers no batches. */
const BATCH = "batch";

/** The node and the call that a failure names. */
interface Place {
  readonly node: ChainNode;
  readonly method: string;
  /** Method and parameters. */
  readonly call: string;
}

function placeOf(node: ChainNode, { method, params }: RpcCall): Place {
  return { node, method, call: `${method} ${JSON.stringify(params)}` };
}

function requestOf({ method, params }: RpcCall, id: number) {
  return { jsonrpc: "2.0", id, method, params };
}

/** The failure that an HTTP status stands for. */
function failureOfStatus(
  { status, retryAfterMs }: NodeAnswer,
  { node, method, call }: Place,
): ChainUnavailable {
  const message = `Cannot read from a node as it answered HTTP ${status}: ${node.label} ${method}`;
  if (status === 429 || status === 403 || status === 503) {
    return new RateLimited(message, retryAfterMs);
  }
  if (status >= 500) return new ChainUnavailable("server-error", message);
  // its answer, or the request, is larger than a proxy before it passes on
  if (status === 413) return new CallFailed("server-error", message, call, false);
  return new CallFailed("malformed", message, call, false);
}

/** The failure that an error of JSON-RPC stands for. */
function failureOfError(
  error: RpcError,
  dialect: RpcDialect,
  { node, method, call }: Place,
): ChainUnavailable {
  const words = node.wordsOf(error.message);
  const message =
    `Cannot read from a node as it reported an error: ${node.label} ${method}: ${error.code} ${words}`;
  switch (dialect.kindOf(error)) {
    case "reverted":
      return new ChainUnavailable(
        "reverted",
        `Cannot simulate ${method} as it fails: ${words} (${node.label})`,
      );
    case "too-many":
      return new RateLimited(message, null);
    case "unknown-method":
      return new NotServed(message, method);
    case "refused":
      return new CallFailed("server-error", message, call, true);
    case "failed":
      return new CallFailed("server-error", message, call, false);
  }
}

/** JSON of an answer; null where it is none. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The result that a call's own answer has, in its shape. */
function resultOf<T>(
  answer: RpcAnswer,
  shape: AnswerShape<T>,
  dialect: RpcDialect,
  place: Place,
): T {
  const { node, method, call } = place;
  if (answer.error) throw failureOfError(answer.error, dialect, place);
  if (answer.result === undefined) {
    const message = `Cannot read an answer as it has no result: ${node.label} ${method}`;
    throw new CallFailed("malformed", message, call, false);
  }
  const parsed = shape.safeParse(answer.result);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new CallFailed(
    "malformed",
    `Cannot read an answer as ${issue?.path.join(".") || "its result"} is wrong ` +
      `(${issue?.message}): ${node.label} ${method}`,
    call,
    false,
  );
}

/** Reads one answer; a status that is not 200 counts where it does not carry an error of its own. */
function answerOf(answer: NodeAnswer, id: number, place: Place): RpcAnswer {
  const parsed = envelopeSchema.safeParse(jsonOf(answer.text));
  if (parsed.success && parsed.data.error) return parsed.data;
  if (answer.status !== 200) throw failureOfStatus(answer, place);
  if (parsed.success && parsed.data.id === id) return parsed.data;
  const message = `Cannot read an answer as it is no JSON-RPC of this call: ` +
    `${place.node.label} ${place.method}: ${place.node.wordsOf(answer.text)}`;
  throw new CallFailed("malformed", message, place.call, false);
}

/** Waits, and leaves a call that fails alone for a while. */
async function withCoolDown<T>({ node, method, call }: Place, ask: () => Promise<T>): Promise<T> {
  const earlier = node.coolDowns.failureOf(method) ?? node.coolDowns.failureOf(call);
  if (earlier !== null) throw earlier;
  try {
    const found = await ask();
    node.coolDowns.succeeded(call);
    node.coolDowns.succeeded(method);
    return found;
  } catch (error) {
    if (error instanceof CallFailed) node.coolDowns.failed(error);
    throw error;
  }
}

/** Asks nodes of one family. */
export class JsonRpc {
  constructor(readonly dialect: RpcDialect) {}

  /**
   * One call. What the node could not answer is not sent again for a while, which grows; the node is
   * asked everything else meanwhile.
   *
   * @param shape of the result; a node is not trusted
   * @param long takes the answer where it is too long for one text; the shape is then that of the text which
   *   stands for it
   * @throws {NotServed} when the node does not serve the call
   * @throws {ChainUnavailable} in every other case; `reverted` where a simulation fails
   */
  async ask<T>(
    node: ChainNode,
    call: RpcCall,
    shape: AnswerShape<T>,
    signal?: AbortSignal,
    long?: LongAnswer,
  ): Promise<T> {
    const place = placeOf(node, call);
    return await withCoolDown(place, async () => {
      const mostBytes = this.dialect.mostBytesOf(call.method);
      const content = { name: call.method, mostBytes, long };
      const answer = await node.post("", JSON.stringify(requestOf(call, 1)), signal, content);
      return resultOf(answerOf(answer, 1, place), shape, this.dialect, place);
    });
  }

  /**
   * Several calls of one shape in one request, answered in their order. A node that answers no batches is
   * asked one by one.
   *
   * @returns of each call its result or its failure
   * @throws {ChainUnavailable} when none of them is answered
   */
  async askAll<T>(
    node: ChainNode,
    calls: readonly RpcCall[],
    shape: AnswerShape<T>,
    signal?: AbortSignal,
    long?: LongAnswer,
  ): Promise<readonly (T | ChainUnavailable)[]> {
    const [first] = calls;
    if (first === undefined) return [];
    if (calls.length > 1 && this.answersBatches(node)) {
      const found = await this.#askTogether(node, calls, first, shape, signal, long);
      if (found !== null) return found;
    }
    return await this.#askOneByOne(node, calls, shape, signal, long);
  }

  /** True unless the node lately answered several calls in one request with less. */
  answersBatches(node: ChainNode): boolean {
    return !node.isUnknown(BATCH);
  }

  async #askOneByOne<T>(
    node: ChainNode,
    calls: readonly RpcCall[],
    shape: AnswerShape<T>,
    signal: AbortSignal | undefined,
    long: LongAnswer | undefined,
  ): Promise<readonly (T | ChainUnavailable)[]> {
    const found: (T | ChainUnavailable)[] = [];
    for (const call of calls) {
      try {
        found.push(await this.ask(node, call, shape, signal, long));
      } catch (error) {
        // an error of a call is its answer; anything else is of the node, and of all of them
        if (!isOfCall(error)) throw error;
        found.push(error);
      }
    }
    return found;
  }

  /** Null where the node answers no batches. */
  async #askTogether<T>(
    node: ChainNode,
    calls: readonly RpcCall[],
    first: RpcCall,
    shape: AnswerShape<T>,
    signal: AbortSignal | undefined,
    long: LongAnswer | undefined,
  ): Promise<readonly (T | ChainUnavailable)[] | null> {
    const { method } = first;
    const place: Place = {
      node,
      method,
      call: `${calls.length} x ${method} ${JSON.stringify(first.params)}`,
    };
    return await withCoolDown(place, async () => {
      const body = JSON.stringify(calls.map((call, i) => requestOf(call, i + 1)));
      const one = this.dialect.mostBytesOf(method);
      const mostBytes = Math.max(one, Math.min(calls.length * one, MOST_BATCH_BYTES));
      const content = { name: method, calls: calls.length, mostBytes, long };
      const answer = await node.post("", body, signal, content);
      const json = jsonOf(answer.text);
      if (!Array.isArray(json)) return this.#withoutBatch(answer, json, place);
      const byId = answersById(json, calls.length, place);
      return calls.map((call, i) => {
        try {
          return resultOf(byId.get(i + 1) ?? {}, shape, this.dialect, placeOf(node, call));
        } catch (error) {
          if (!(error instanceof ChainUnavailable) || !isOfCall(error)) throw error;
          return error;
        }
      });
    });
  }

  /** One answer to many calls: too much was asked, or the node knows no batches. */
  #withoutBatch(answer: NodeAnswer, json: unknown, place: Place): null {
    const single = envelopeSchema.safeParse(json);
    if (single.success && single.data.error) {
      const failure = failureOfError(single.data.error, this.dialect, place);
      if (failure instanceof RateLimited) throw failure;
    } else if (answer.status !== 200 && answer.status !== 400 && answer.status !== 413) {
      throw failureOfStatus(answer, place);
    }
    place.node.markUnknown(BATCH);
    return null;
  }
}

/** True for a failure of one call, which says nothing of others in its batch. */
function isOfCall(error: unknown): error is ChainUnavailable {
  return error instanceof CallFailed ||
    (error instanceof ChainUnavailable && error.category === "reverted");
}

/** Answers by the numbers of their calls; each of them once. */
function answersById(
  json: readonly unknown[],
  count: number,
  { node, method, call }: Place,
): ReadonlyMap<number, RpcAnswer> {
  const byId = new Map<number, RpcAnswer>();
  for (const one of json) {
    const parsed = envelopeSchema.safeParse(one);
    const id = parsed.data?.id;
    if (parsed.success && typeof id === "number" && id >= 1 && id <= count && !byId.has(id)) {
      byId.set(id, parsed.data);
      continue;
    }
    const message =
      `Cannot read an answer as it has other calls than were asked: ${node.label} ${method}`;
    throw new CallFailed("malformed", message, call, false);
  }
  if (byId.size === count) return byId;
  const message =
    `Cannot read an answer as it has ${byId.size} of ${count} calls: ${node.label} ${method}`;
  throw new CallFailed("malformed", message, call, false);
}
