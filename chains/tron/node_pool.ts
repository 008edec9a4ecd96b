/**
 * Reads from several nodes: in the configured order, past those that are cooling down.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { z } from "zod";
import { ChainUnavailable, type NodeState } from "../chain.ts";
import { Deadline } from "./deadline.ts";
import { ForeignNode } from "./foreign_node.ts";
import type { NodeAnswer, TronNode } from "./node.ts";

const logger = getLogger(["engine", "chains", "tron"]);

/** First pause of a node that failed; doubles with each further failure. */
const FIRST_COOLDOWN_MS = 500;
/** Longest pause after failures that may end at any moment, such as a restarting node. */
const LONGEST_COOLDOWN_MS = 5_000;
/** Longest pause after refusals: asking on while suspended prolongs the suspension. */
const LONGEST_RATE_LIMIT_MS = 30_000;
/** A node may ask for a longer pause, within reason: a hostile one must not mute us for days. */
const LONGEST_RETRY_AFTER_MS = 120_000;
/** Pause of a node that is of another chain: only its operator can change that. */
const FOREIGN_MS = 60_000;
/** What java-tron's own rate limiter says, with HTTP 200. */
const BUSY_TEXT = "lack of computing resources";

interface Health {
  failures: number;
  coolUntil: number;
  /** Whether it was found to be of the right chain since it last failed. */
  admitted: boolean;
  isForeign: boolean;
  failure: string | null;
}

/** What an answer must look like; a zod schema is one. */
export interface AnswerShape<T> extends Pick<z.ZodType<T>, "safeParse"> {
  /** Reads the usual form of a long answer from its text; `null`: it has another one. */
  readonly readText?: (text: string) => T | null;
}

/** Whether a node is of the right chain; throws when it is not, or does not answer. */
export type Admit = (node: TronNode, signal: AbortSignal) => Promise<void>;

/** A failure that also says how long its node wants to be left alone. */
export class RateLimited extends ChainUnavailable {
  constructor(message: string, readonly retryAfterMs: number | null) {
    super("rate-limit", message);
  }
}

/** The failure that an HTTP answer stands for, or `null` when it is a good one. */
function failureOf(answer: NodeAnswer, place: string): ChainUnavailable | null {
  const { status } = answer;
  if (status === 200) return null;
  const message = `Cannot read from a node as it answered HTTP ${status}: ${place}`;
  if (status === 429 || status === 403 || status === 503) {
    return new RateLimited(message, answer.retryAfterMs);
  }
  return new ChainUnavailable(status >= 500 ? "server-error" : "malformed", message);
}

/**
 * Reads a good answer's JSON.
 *
 * @throws {ChainUnavailable} when it is not what the schema says
 */
function parseAnswer<T>(text: string, schema: AnswerShape<T>, place: string): T {
  const usual = schema.readText?.(text) ?? null;
  if (usual !== null) return usual;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new ChainUnavailable("malformed", `Cannot read an answer as it is not JSON: ${place}`);
  }
  if (typeof json === "object" && json !== null && "Error" in json) {
    // java-tron answers HTTP 200 with the exception's text.
    const reason = String(json.Error).slice(0, 200);
    const message = `Cannot read from a node as it reported an error: ${place}: ${reason}`;
    throw reason.includes(BUSY_TEXT)
      ? new RateLimited(message, null)
      : new ChainUnavailable("server-error", message);
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new ChainUnavailable(
    "malformed",
    `Cannot read an answer as ${issue?.path.join(".") || "its body"} is wrong ` +
      `(${issue?.message}): ${place}`,
  );
}

/** One request to a node. */
export interface NodeRequest {
  /** For example `/wallet/getblockbynum`. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * One read from one node.
 *
 * @param schema what the answer must look like; a node is not trusted
 * @throws {ChainUnavailable} in every other case
 */
export async function readFrom<T>(
  node: TronNode,
  { path, body }: NodeRequest,
  schema: AnswerShape<T>,
  signal: AbortSignal,
): Promise<T> {
  const answer = await node.post(path, JSON.stringify(body), signal);
  const place = node.label + path;
  const failure = failureOf(answer, place);
  if (failure !== null) {
    if (answer.status === 404 || answer.status === 405) node.markUnknown(path);
    throw failure;
  }
  return parseAnswer(answer.text, schema, place);
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
): Promise<T> {
  if (!node.isUnknown(preferred.path)) {
    try {
      return await readFrom(node, preferred, schema, signal);
    } catch (error) {
      if (!node.isUnknown(preferred.path)) throw error;
      logger.info("Node {node} does not know {path}, asked for {instead} instead", {
        node: node.label,
        path: preferred.path,
        instead: fallback.path,
      });
    }
  }
  return await readFrom(node, fallback, schema, signal);
}

/** The nodes of a network. */
export class NodePool {
  readonly #health: Map<TronNode, Health>;
  readonly #admit: Admit | null;

  /**
   * @param totalTimeoutMs bound of a read over all nodes together
   * @param admit asked before a node is first believed, and again after each failure
   */
  constructor(
    readonly nodes: readonly TronNode[],
    readonly totalTimeoutMs: number,
    admit: Admit | null = null,
  ) {
    this.#admit = admit;
    this.#health = new Map(nodes.map((node) => [node, {
      failures: 0,
      coolUntil: 0,
      admitted: admit === null,
      isForeign: false,
      failure: null,
    }]));
  }

  /** How the nodes fare, in their configured order. */
  get states(): readonly NodeState[] {
    return this.nodes.map((node): NodeState => {
      const { coolUntil, isForeign, failure } = this.#healthOf(node);
      const restingMs = Math.max(0, Math.ceil(coolUntil - performance.now()));
      return {
        name: node.label,
        state: isForeign
          ? "foreign"
          : restingMs > 0
          ? "resting"
          : node.meter.isSpent
          ? "spent"
          : "ready",
        restingMs,
        callsToday: node.meter.today,
        dailyCalls: node.meter.limit,
        failure,
      };
    });
  }

  /** Has every node looked at again before it is believed: the chain is known better now. */
  doubtAll(): void {
    if (this.#admit === null) return;
    for (const health of this.#health.values()) health.admitted = false;
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
      if (this.#isCooling(node)) continue;
      if (bound.aborted) break;
      try {
        await this.#admitted(node, bound);
        const result = await attempt(node, bound);
        this.#succeeded(node);
        if (isEnough(result)) return result;
        poor = { result: poor === null ? result : better(poor.result, result) };
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
        // A revert is the contract's answer, the same on every node that is up to date.
        if (error.category === "reverted") throw error;
        if (!bound.aborted || total.isOver) this.#failed(node, error);
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

  #healthOf(node: TronNode): Health {
    const health = this.#health.get(node);
    if (health === undefined) throw new Error(`Cannot use a node of another pool: ${node.label}`);
    return health;
  }

  async #admitted(node: TronNode, signal: AbortSignal): Promise<void> {
    const health = this.#healthOf(node);
    if (health.admitted || this.#admit === null) return;
    await this.#admit(node, signal);
    health.admitted = true;
    health.isForeign = false;
  }

  #isCooling(node: TronNode): boolean {
    return this.#healthOf(node).coolUntil > performance.now();
  }

  #succeeded(node: TronNode): void {
    const health = this.#healthOf(node);
    if (health.failures === 0) return;
    // what was under way when it refused, failed or was found out does not clear it
    if (this.#isCooling(node)) return;
    health.failures = 0;
    health.isForeign = false;
    health.coolUntil = 0;
    health.failure = null;
    logger.info("Node {node} answers again", { node: node.label });
  }

  #failed(node: TronNode, error: ChainUnavailable): void {
    const health = this.#healthOf(node);
    const isForeign = error instanceof ForeignNode;
    // Several reads that were under way fail together; together they are one failure.
    if (this.#isCooling(node) && !isForeign) return;
    health.failures += 1;
    health.failure = error.message;
    health.admitted = this.#admit === null;
    if (isForeign) {
      if (!health.isForeign) logger.fatal("{reason}", { reason: error.message });
      health.isForeign = true;
      health.coolUntil = performance.now() + FOREIGN_MS;
      return;
    }
    const doubled = FIRST_COOLDOWN_MS * 2 ** Math.min(health.failures - 1, 10);
    const asked = error instanceof RateLimited ? error.retryAfterMs ?? 0 : 0;
    const pause = Math.max(
      Math.min(
        doubled,
        error.category === "rate-limit" ? LONGEST_RATE_LIMIT_MS : LONGEST_COOLDOWN_MS,
      ),
      Math.min(asked, LONGEST_RETRY_AFTER_MS),
    );
    health.coolUntil = performance.now() + pause;
    logger.warn("Node {node} failed ({category}), left alone for {pause} ms: {reason}", {
      node: node.label,
      category: error.category,
      pause,
      reason: error.message,
    });
  }
}
