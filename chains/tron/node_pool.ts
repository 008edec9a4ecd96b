/**
 * Reads from several nodes: in the configured order, past those that are cooling down.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { z } from "zod";
import { ChainUnavailable, type NodeState } from "../chain.ts";
import { Deadline } from "./deadline.ts";
import type { ForeignNode } from "./foreign_node.ts";
import type { NodeAnswer, TronNode } from "./node.ts";
import { CallFailed, NotServed, RateLimited, Suspended } from "./node_failures.ts";
import { type Admit, NodeHealth } from "./node_health.ts";
import { saysBusy, saysNotServed, suspensionIn, wordsOf } from "./refusal_texts.ts";

const logger = getLogger(["engine", "chains", "tron"]);

/** What an answer must look like; a zod schema is one. */
export type AnswerShape<T> = Pick<z.ZodType<T>, "safeParse">;

/** What a failure is told with: which node, and which call of it. */
interface Place {
  readonly label: string;
  readonly path: string;
  /** Path and body. */
  readonly call: string;
}

/** The failure that an HTTP answer stands for, or `null` when it is a good one. */
function failureOf({ status, text, retryAfterMs }: NodeAnswer, at: Place): ChainUnavailable | null {
  const place = at.label + at.path;
  const suspension = suspensionIn(text);
  if (suspension !== null) {
    return new Suspended(
      `Cannot read from a node as it answers nothing for ${suspension.ms} ms: ${place}: ` +
        wordsOf(text),
      suspension.ms,
    );
  }
  if (saysNotServed(text)) {
    return new NotServed(
      `Cannot read from a node as it does not serve this call: ${place}: ${wordsOf(text)}`,
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
  const place = at.label + at.path;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    const message = `Cannot read an answer as it is not JSON: ${place}: ${wordsOf(text)}`;
    throw new CallFailed("malformed", message, at.call, false);
  }
  if (typeof json === "object" && json !== null && "Error" in json) {
    // java-tron answers HTTP 200 with the exception's text.
    const reason = wordsOf(String(json.Error));
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

/** One request to a node. */
export interface NodeRequest {
  /** For example `/wallet/getblockbynum`. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Why a well-formed answer is none, or `null` where it is one. */
export type Refused<T> = (answer: T) => {
  readonly category: "reverted" | "rate-limit" | "server-error";
  readonly reason: string;
} | null;

/**
 * One read from one node. A call that the node could not answer is not sent again for a while, which
 * grows; the node is asked everything else meanwhile.
 *
 * @param schema what the answer must look like; a node is not trusted
 * @param refused for answers that say in a field of their own that the node could not do it
 * @throws {ChainUnavailable} in every other case
 */
export async function readFrom<T>(
  node: TronNode,
  { path, body }: NodeRequest,
  schema: AnswerShape<T>,
  signal: AbortSignal,
  refused?: Refused<T>,
): Promise<T> {
  const text = JSON.stringify(body);
  const at: Place = { label: node.label, path, call: `${path} ${text}` };
  const resting = node.calls.failureOf(path) ?? node.calls.failureOf(at.call);
  if (resting !== null) throw resting;
  try {
    const answer = await node.post(path, text, signal);
    const failure = failureOf(answer, at);
    if (failure !== null) {
      const isUnknown = answer.status === 404 || answer.status === 405;
      if (isUnknown && !(failure instanceof NotServed)) node.markUnknown(path);
      throw failure;
    }
    const found = parseAnswer(answer.text, schema, at);
    const refusal = refused?.(found) ?? null;
    if (refusal !== null) throw refusalOf(refusal, at);
    node.calls.succeeded(at.call);
    node.calls.succeeded(path);
    return found;
  } catch (error) {
    if (error instanceof CallFailed) node.calls.failed(error);
    throw error;
  }
}

function refusalOf(
  { category, reason }: NonNullable<ReturnType<Refused<unknown>>>,
  { label, call }: Place,
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
 * As {@linkcode readFrom}, with a second request for nodes that do not know the first path.
 *
 * @throws {ChainUnavailable} when the request that the node knows fails
 */
export async function readEither<T>(
  node: TronNode,
  preferred: NodeRequest,
  fallback: NodeRequest,
  schema: AnswerShape<T>,
  signal: AbortSignal,
  refused?: Refused<T>,
): Promise<T> {
  const isMissing = () =>
    node.isUnknown(preferred.path) || node.calls.failureOf(preferred.path) instanceof NotServed;
  if (!isMissing()) {
    try {
      return await readFrom(node, preferred, schema, signal, refused);
    } catch (error) {
      if (!isMissing()) throw error;
      logger.info("Node {node} does not know {path}, asked for {instead} instead", {
        node: node.label,
        path: preferred.path,
        instead: fallback.path,
      });
    }
  }
  return await readFrom(node, fallback, schema, signal, refused);
}

/** The nodes of a network. */
export class NodePool {
  readonly #health: ReadonlyMap<TronNode, NodeHealth>;

  /**
   * @param totalTimeoutMs bound of a read over all nodes together
   * @param admit asked before a node is first believed, and again after each failure
   */
  constructor(
    readonly nodes: readonly TronNode[],
    readonly totalTimeoutMs: number,
    admit: Admit | null = null,
  ) {
    this.#health = new Map(nodes.map((node) => [node, new NodeHealth(node, admit)]));
  }

  /** How the nodes fare, in their configured order. */
  get states(): readonly NodeState[] {
    return this.nodes.map((node) => this.#healthOf(node).state);
  }

  /** Has every node looked at again before it is believed: the chain is known better now. */
  doubtAll(): void {
    for (const health of this.#health.values()) health.doubt();
  }

  /** See {@linkcode NodeHealth.setApart}. */
  setApart(node: TronNode, error: ForeignNode, proof: Admit): void {
    this.#healthOf(node).setApart(error, proof);
  }

  /**
   * Tries a read on one node after the other until one result is good enough.
   *
   * @param attempt reads from the given node; throws {@linkcode ChainUnavailable} when it cannot
   * @param isEnough whether to stop with this result; a node that lags gives a poor one
   * @param better which of two poor results counts when no node has a good one; default the first
   * @throws {ChainUnavailable} the last failure, or `rate-limit` when every node is cooling down
   */
  async read<T>(
    attempt: (node: TronNode, signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
    isEnough: (result: T) => boolean = () => true,
    better: (kept: T, found: T) => T = (kept) => kept,
  ): Promise<T> {
    using total = new Deadline(this.totalTimeoutMs);
    const bound = total.with(signal);
    let poor: { readonly result: T } | null = null;
    let lastFailure: ChainUnavailable | null = null;
    for (const node of this.#inOrder()) {
      const health = this.#healthOf(node);
      if (health.isCooling) continue;
      if (bound.aborted) break;
      try {
        await health.admit(bound);
        const result = await attempt(node, bound);
        health.succeeded();
        if (isEnough(result)) return result;
        poor = { result: poor === null ? result : better(poor.result, result) };
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
        // A revert is the contract's answer, the same on every node that is up to date.
        if (error.category === "reverted") throw error;
        // a node that may be asked little is not to blame when time ran out meanwhile
        const isToBlame = !bound.aborted || (total.isOver && node.callsPerSecond === null);
        if (isToBlame) health.failed(error);
        lastFailure = error;
      }
    }
    if (poor !== null) return poor.result;
    throw lastFailure ??
      new ChainUnavailable(
        "rate-limit",
        `Cannot read from the chain as every node is cooling down: ${
          this.nodes.map((node) => node.label).join(", ")
        }`,
      );
  }

  /** As configured; those whose calls of today are used up come last, and are still asked. */
  #inOrder(): readonly TronNode[] {
    if (!this.nodes.some((node) => node.meter.isSpent)) return this.nodes;
    return [
      ...this.nodes.filter((node) => !node.meter.isSpent),
      ...this.nodes.filter((node) => node.meter.isSpent),
    ];
  }

  #healthOf(node: TronNode): NodeHealth {
    const health = this.#health.get(node);
    if (health === undefined) throw new Error(`Cannot use a node of another pool: ${node.label}`);
    return health;
  }
}
