/**
 * Health of one node of a pool: what rests it, for how long, and what ends that.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import { ChainUnavailable, type NodeState } from "../chain.ts";
import { ForeignNode } from "./foreign_node.ts";
import type { TronNode } from "./node.ts";
import { CallFailed, NotAsked, RateLimited, Suspended } from "./node_failures.ts";
import { LONGEST_SUSPENSION_MS } from "./refusal_texts.ts";

const logger = getLogger(["engine", "chains", "tron"]);

/** First pause of a node that failed; doubles with each further failure. */
const FIRST_COOLDOWN_MS = 500;
/** Longest pause after failures that may end at any moment, such as a restarting node. */
const LONGEST_COOLDOWN_MS = 5_000;
/** Longest pause after refusals: asking on while suspended prolongs the suspension. */
const LONGEST_RATE_LIMIT_MS = 30_000;
/** Pause of a node that is of another chain: only its operator can change that. */
const FOREIGN_MS = 60_000;
/** Different calls that fail one after the other, none answered between them, are no longer the calls' fault. */
const CALLS_IN_A_ROW = 3;

/** Checks that a node is of the right chain; throws when it is not, or does not answer. */
export type Admit = (node: TronNode, signal: AbortSignal) => Promise<void>;

/** The health of one node. */
export class NodeHealth {
  readonly #node: TronNode;
  readonly #admit: Admit | null;
  #failures = 0;
  #coolUntil = 0;
  /** True where it was found to be of the right chain since it last failed. */
  #admitted: boolean;
  /** Asked as well before it is believed, since it was found on another branch. */
  #proof: Admit | null = null;
  #isForeign = false;
  #failure: string | null = null;
  /** Calls that failed since it last answered one. */
  readonly #troubled = new Set<string>();

  /** @param admit asked before the node is first believed, and again after each failure */
  constructor(node: TronNode, admit: Admit | null) {
    this.#node = node;
    this.#admit = admit;
    this.#admitted = admit === null;
  }

  get isCooling(): boolean {
    return this.#coolUntil > performance.now() || this.#node.suspendedMs > 0;
  }

  get state(): NodeState {
    const node = this.#node;
    const cooling = this.#coolUntil - performance.now();
    const restingMs = Math.max(0, Math.ceil(cooling), node.suspendedMs);
    return {
      name: node.label,
      state: this.#isForeign
        ? "foreign"
        : restingMs > 0
        ? "resting"
        : node.meter.isSpent
        ? "spent"
        : "ready",
      restingMs,
      suspendedMs: node.suspendedMs,
      callsPerSecond: node.callsPerSecond,
      callsToday: node.meter.today,
      dailyCalls: node.meter.limit,
      restingCalls: node.calls.resting,
      unserved: node.calls.unserved,
      failure: this.#failure,
    };
  }

  /** Has the node looked at again before it is believed. */
  doubt(): void {
    if (this.#admit !== null) this.#admitted = false;
  }

  /** Makes sure that the node is of the right chain. @throws {ChainUnavailable} when it is not, or does not answer */
  async admit(signal: AbortSignal): Promise<void> {
    if (this.#admitted) return;
    await this.#admit?.(this.#node, signal);
    await this.#proof?.(this.#node, signal);
    this.#admitted = true;
    this.#proof = null;
    this.#isForeign = false;
  }

  succeeded(): void {
    this.#troubled.clear();
    if (this.#failures === 0) return;
    // what was under way when it refused, failed or was found out does not clear it
    if (this.isCooling) return;
    this.#failures = 0;
    this.#isForeign = false;
    this.#coolUntil = 0;
    this.#failure = null;
    logger.info("Node {node} answers again", { node: this.#node.label });
  }

  /** Notes a failure: of one call, which is left alone by itself, or of the node. */
  failed(error: ChainUnavailable): void {
    if (error instanceof NotAsked) return;
    if (!(error instanceof ForeignNode) && this.#isOfOneCall(error)) return;
    this.#troubled.clear();
    this.#rest(error);
  }

  /**
   * Sets the node apart: it is on another branch than the one that other nodes continue.
   *
   * @param proof what it has to pass before it is believed again
   */
  setApart(error: ForeignNode, proof: Admit): void {
    this.#proof = proof;
    this.failed(error);
  }

  /** True while it says nothing of the node yet. */
  #isOfOneCall(error: ChainUnavailable): boolean {
    if (error instanceof CallFailed) {
      if (!error.isRefusal) this.#troubled.add(error.call);
    } else if (error.category === "malformed") this.#troubled.add(error.message);
    else return false;
    if (this.#troubled.size >= CALLS_IN_A_ROW) return false;
    logger.info("Node {node} could not answer one call, it is asked the others: {reason}", {
      node: this.#node.label,
      reason: error.message,
    });
    return true;
  }

  #rest(error: ChainUnavailable): void {
    const isForeign = error instanceof ForeignNode;
    // Several reads that were under way fail together; together they are one failure.
    if (this.#coolUntil > performance.now() && !isForeign) return;
    this.#failures += 1;
    this.#failure = error.message;
    this.#admitted = this.#admit === null && this.#proof === null;
    if (isForeign) {
      if (!this.#isForeign) logger.fatal("{reason}", { reason: error.message });
      this.#isForeign = true;
      this.#coolUntil = performance.now() + FOREIGN_MS;
      return;
    }
    const pause = pauseAfter(error, this.#failures);
    this.#coolUntil = performance.now() + pause;
    logger.warn("Node {node} failed ({category}), left alone for {pause} ms: {reason}", {
      node: this.#node.label,
      category: error.category,
      pause,
      reason: error.message,
    });
  }
}

/**
 * Milliseconds for which a node is left alone.
 *
 * @param failures in a row, this one included
 */
export function pauseAfter(error: ChainUnavailable, failures: number): number {
  // it said for how long; to wait longer would only fall behind
  if (error instanceof Suspended) return Math.min(error.retryAfterMs, LONGEST_SUSPENSION_MS);
  const doubled = FIRST_COOLDOWN_MS * 2 ** Math.min(failures - 1, 10);
  const asked = error instanceof RateLimited ? error.retryAfterMs ?? 0 : 0;
  const longest = error.category === "rate-limit" ? LONGEST_RATE_LIMIT_MS : LONGEST_COOLDOWN_MS;
  return Math.max(Math.min(doubled, longest), Math.min(asked, LONGEST_SUSPENSION_MS));
}
