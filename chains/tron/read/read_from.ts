/**
 * Asks one node in java-tron's dialect: a POST of JSON, whose answer must have an expected shape.
 *
 * @module
 */

import { logEvent } from "../../../log/log_event.ts";
import { ChainUnavailable } from "../../chain.ts";
import type { AnswerShape } from "../../nodes/json_rpc.ts";
import type { ChainNode, NodeAnswer } from "../../nodes/node.ts";
import type { NodePool } from "../../nodes/node_pool.ts";
import { CallFailed, NotServed, RateLimited, Suspended } from "../../nodes/node_failures.ts";
import { saysBusy, saysNotServed, suspensionIn } from "./refusal_texts.ts";
import { mostBytesOf } from "./answer_sizes.ts";
import { isLong, LongRead, type LongTerms } from "./long_read.ts";

/** The node and the call that a failure names. */
interface Place {
  readonly node: ChainNode;
  readonly path: string;
  /** Path and body. */
  readonly call: string;
}

/** The failure that an HTTP answer stands for, or `null` when it is a good one. */
function failureOf({ status, text, retryAfterMs }: NodeAnswer, at: Place): ChainUnavailable | null {
  const place = at.node.label + at.path;
  const suspension = suspensionIn(text);
  if (suspension !== null) {
    return new Suspended(
      `Cannot read from a node as it answers nothing for ${suspension.ms} ms: ${place}: ` +
        at.node.wordsOf(text),
      suspension.ms,
    );
  }
  if (saysNotServed(text)) {
    return new NotServed(
      `Cannot read from a node as it does not serve this call: ${place}: ${at.node.wordsOf(text)}`,
      at.path,
    );
  }
  if (status === 200) return null;
  const message = `Cannot read from a node as it answered HTTP ${status}: ${place}`;
  if (status === 429 || status === 403 || status === 503) {
    return new RateLimited(message, retryAfterMs);
  }
  if (status >= 500) return new ChainUnavailable("server-error", message);
  return new CallFailed("malformed", message, at.call, false);
}

/**
 * Reads a good answer's JSON.
 *
 * @throws {ChainUnavailable} when it is not what the schema says
 */
function parseAnswer<T>(text: string, schema: AnswerShape<T>, at: Place): T {
  const place = at.node.label + at.path;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    const message = `Cannot read an answer as it is not JSON: ${place}: ${at.node.wordsOf(text)}`;
    throw new CallFailed("malformed", message, at.call, false);
  }
  if (typeof json === "object" && json !== null && "Error" in json) {
    // java-tron answers HTTP 200 with the exception's text.
    const reason = at.node.wordsOf(String(json.Error));
    const message = `Cannot read from a node as it reported an error: ${place}: ${reason}`;
    throw saysBusy(reason)
      ? new RateLimited(message, null)
      : new CallFailed("server-error", message, at.call, false);
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new CallFailed(
    "malformed",
    `Cannot read an answer as ${issue?.path.join(".") || "its body"} is wrong ` +
      `(${issue?.message}): ${place}`,
    at.call,
    false,
  );
}

export interface NodeRequest {
  /** For example `/wallet/getblockbynum`. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Terms on which its answer is read where it may be long; default those of one that is no block's. */
  readonly terms?: LongTerms;
}

/** Reason for which a well-formed answer is none, or `null` where it is one. */
export type Refused<T> = (answer: T, node: Pick<ChainNode, "wordsOf">) => {
  readonly category: "reverted" | "rate-limit" | "server-error";
  readonly reason: string;
} | null;

/**
 * One read from one node. A call that the node could not answer is not sent again for a while, which
 * grows; the node is asked everything else meanwhile.
 *
 * @param schema shape of the answer; a node is not trusted
 * @param refused for answers that say in a field of their own that the node could not do it
 * @throws {ChainUnavailable} in every other case
 */
export async function readFrom<T>(
  node: ChainNode,
  { path, body, terms }: NodeRequest,
  schema: AnswerShape<T>,
  signal: AbortSignal,
  refused?: Refused<T>,
): Promise<T> {
  const text = JSON.stringify(body);
  const at: Place = { node, path, call: `${path} ${text}` };
  const earlier = node.coolDowns.failureOf(path) ?? node.coolDowns.failureOf(at.call);
  if (earlier !== null) throw earlier;
  try {
    const mostBytes = terms?.mostBytes ?? mostBytesOf(path);
    const long = isLong(schema) ? new LongRead(schema, mostBytes, terms) : undefined;
    const answer = await node.post(path, text, signal, { mostBytes, long });
    const failure = failureOf(answer, at);
    if (failure !== null) {
      const isUnknown = answer.status === 404 || answer.status === 405;
      if (isUnknown && !(failure instanceof NotServed)) node.markUnknown(path);
      throw failure;
    }
    const found = parseAnswer(answer.text, long?.hasBegun ? long.shape : schema, at);
    const refusal = refused?.(found, node) ?? null;
    if (refusal !== null) throw refusalOf(refusal, at);
    node.coolDowns.succeeded(at.call);
    node.coolDowns.succeeded(path);
    return found;
  } catch (error) {
    if (error instanceof CallFailed) node.coolDowns.failed(error);
    throw error;
  }
}

function refusalOf(
  { category, reason }: NonNullable<ReturnType<Refused<unknown>>>,
  { node: { label }, call }: Place,
): ChainUnavailable {
  const message = `${reason} (${label})`;
  switch (category) {
    case "reverted":
      return new ChainUnavailable("reverted", message);
    case "rate-limit":
      return new RateLimited(message, null);
    case "server-error":
      return new CallFailed("server-error", message, call, true);
    default:
      return category satisfies never;
  }
}

/**
 * One read from any node of a pool.
 *
 * @throws {ChainUnavailable} when no node can answer it
 */
export async function readAny<T>(
  pool: NodePool,
  request: NodeRequest,
  schema: AnswerShape<T>,
  signal?: AbortSignal,
): Promise<T> {
  return await pool.read((node, bound) => readFrom(node, request, schema, bound), { signal });
}

/**
 * As {@linkcode readFrom}, with a second request for nodes that do not know the first path.
 *
 * @throws {ChainUnavailable} when the request that the node knows fails
 */
export async function readEither<T>(
  node: ChainNode,
  preferred: NodeRequest,
  fallback: NodeRequest,
  schema: AnswerShape<T>,
  signal: AbortSignal,
  refused?: Refused<T>,
): Promise<T> {
  const isMissing = () =>
    node.isUnknown(preferred.path) || node.coolDowns.failureOf(preferred.path) instanceof NotServed;
  if (!isMissing()) {
    try {
      return await readFrom(node, preferred, schema, signal, refused);
    } catch (error) {
      if (!isMissing()) throw error;
      logEvent("node.path_unknown", {
        node: node.label,
        path: preferred.path,
        instead: fallback.path,
      });
    }
  }
  return await readFrom(node, fallback, schema, signal, refused);
}
