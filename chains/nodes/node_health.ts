/**
 * Health of one node of a pool: its cool-downs, their lengths, and what ends them.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import { isAskedByRequest } from "../call_lane.ts";
import { ChainUnavailable } from "../chain.ts";
import type { NodeState } from "../node_state.ts";
import type { ChainIdentity } from "./believed_nodes.ts";
import type { ChainNode } from "./node.ts";
import {
  CallFailed,
  NotAsked,
  OverlongAnswer,
  RateLimited,
  Suspended,
  WrongChainNode,
} from "./node_failures.ts";
import { LONGEST_SUSPENSION_MS } from "./refusal_texts.ts";

/** First pause of a node that failed; doubles with each further failure. */
const FIRST_COOLDOWN_MS = 500;
/** Longest pause after failures that may end at any moment, such as a restarting node. */
const LONGEST_COOLDOWN_MS = 5_000;
/** Longest pause after refusals: asking on while suspended prolongs the suspension. */
const LONGEST_RATE_LIMIT_MS = 30_000;
/** Pause of a node that is of another chain: only its operator can change that. */
const WRONG_CHAIN_MS = 60_000;
/** Pause after which a node that is believed is asked again which chain it is of: another may stand behind its address by now. */
const IDENTITY_MS = 5 * 60_000;
/** The same after such a question that it did not answer. */
const UNANSWERED_MS = 60_000;
/** The longest that a node which is believed is asked that again, out of the time of the read that met it. */
const ASKED_AGAIN_FOR_MS = 2_000;
/** Different calls that fail one after the other, none answered between them, are no longer the calls' fault. */
const CALLS_IN_A_ROW = 3;

export class NodeHealth {
  readonly #node: ChainNode;
  readonly #identity: ChainIdentity | null;
  readonly #monotonic: () => number;
  #failures = 0;
  #coolUntil = 0;
  /** True where it was found to be of the right chain since it last failed. */
  #admitted: boolean;
  /** Time from which on it is asked again which chain it is of. */
  #askAgainAt: number;
  /** Asked as well before it is believed, since it was found on another branch. */
  #proof: ((signal: AbortSignal) => Promise<void>) | null = null;
  #isOfWrongChain = false;
  #failure: string | null = null;
  /** Calls that failed since it last answered one. */
  readonly #troubled = new Set<string>();
  readonly #askedAgainForMs: number;

  /**
   * @param identity checked before the node is first believed, after each failure and every few
   *   minutes; null: never
   * @param monotonic milliseconds of a clock that is never set
   * @param askedAgainForMs the longest that a node which is believed is asked for it
   */
  constructor(
    node: ChainNode,
    identity: ChainIdentity | null,
    monotonic: () => number = () => performance.now(),
    askedAgainForMs: number = ASKED_AGAIN_FOR_MS,
  ) {
    this.#askedAgainForMs = askedAgainForMs;
    this.#node = node;
    this.#identity = identity;
    this.#monotonic = monotonic;
    this.#admitted = identity === null;
    this.#askAgainAt = Infinity;
  }

  get isCooling(): boolean {
    return this.#coolUntil > this.#monotonic() || this.#node.suspendedMs > 0;
  }

  get state(): NodeState {
    const node = this.#node;
    const cooling = this.#coolUntil - this.#monotonic();
    const coolDownMs = Math.max(0, Math.ceil(cooling), node.suspendedMs);
    return {
      name: node.label,
      state: this.#isOfWrongChain
        ? "wrong-chain"
        : coolDownMs > 0
        ? "cooling-down"
        : node.meter.isQuotaUsedUp
        ? "quota-used-up"
        : "ready",
      coolDownMs,
      suspendedMs: node.suspendedMs,
      callsPerSecond: node.callsPerSecond,
      callsToday: node.meter.today,
      dailyCalls: node.meter.limit,
      coolingCalls: node.coolDowns.cooling,
      unserved: node.coolDowns.unserved,
      failure: this.#failure,
    };
  }

  /** Has the node checked again before it is believed. */
  doubt(): void {
    if (this.#identity !== null) this.#admitted = false;
  }

  /** Makes sure that the node is of the right chain. @throws {ChainUnavailable} when it is not, or does not answer */
  async admit(signal: AbortSignal): Promise<void> {
    if (this.#admitted) return await this.#askAgain(signal);
    await this.#identity?.require(this.#node, signal);
    await this.#proof?.(signal);
    this.#admitted = true;
    this.#proof = null;
    this.#isOfWrongChain = false;
    if (this.#identity !== null) this.#askAgainAt = this.#monotonic() + IDENTITY_MS;
  }

  /**
   * Asks a node that is believed once more, when it is time. Others believe it meanwhile; one that does
   * not answer this has not changed, and whether it answers at all shows by what it is read for. It is given up soon, as
   * what the read that met it has of its time is for that.
   */
  async #askAgain(signal: AbortSignal): Promise<void> {
    const now = this.#monotonic();
    if (now < this.#askAgainAt) return;
    this.#askAgainAt = now + UNANSWERED_MS;
    try {
      const bound = AbortSignal.any([signal, AbortSignal.timeout(this.#askedAgainForMs)]);
      await this.#identity?.require(this.#node, bound);
      this.#askAgainAt = now + IDENTITY_MS;
    } catch (error) {
      if (!(error instanceof ChainUnavailable) || error instanceof WrongChainNode) throw error;
      logEvent("node.call_failed", { node: this.#node.label, reason: error.message });
    }
  }

  succeeded(): void {
    this.#troubled.clear();
    if (this.#failures === 0) return;
    // what was under way when it refused, failed or was found out does not clear it
    if (this.isCooling) return;
    this.#failures = 0;
    this.#isOfWrongChain = false;
    this.#coolUntil = 0;
    this.#failure = null;
    logEvent("node.answers", { node: this.#node.label });
  }

  /** Takes a failure into account: of one call, which is left alone by itself, or of the node. */
  failed(error: ChainUnavailable): void {
    if (error instanceof NotAsked) return;
    if (!(error instanceof WrongChainNode) && this.#isOfOneCall(error)) return;
    this.#troubled.clear();
    this.#coolDown(error);
  }

  /**
   * Leaves the node alone: it is on another branch than the one that other nodes continue.
   *
   * @param proof has to pass before it is believed again
   */
  leaveUntil(error: WrongChainNode, proof: (signal: AbortSignal) => Promise<void>): void {
    this.#proof = proof;
    this.failed(error);
  }

  /** True while it says nothing of the node yet. */
  #isOfOneCall(error: ChainUnavailable): boolean {
    // what anybody may ask about can be such that no node answers it well, again and again
    if (isAskedByRequest() && (error instanceof CallFailed || error.category === "malformed")) {
      logEvent("node.call_failed", { node: this.#node.label, reason: error.message });
      return true;
    }
    if (error instanceof OverlongAnswer) return false;
    if (error instanceof CallFailed) {
      if (!error.isRefusal) this.#troubled.add(error.call);
    } else if (error.category === "malformed") this.#troubled.add(error.message);
    else return false;
    if (this.#troubled.size >= CALLS_IN_A_ROW) return false;
    logEvent("node.call_failed", {
      node: this.#node.label,
      reason: error.message,
    });
    return true;
  }

  #coolDown(error: ChainUnavailable): void {
    const isOfWrongChain = error instanceof WrongChainNode;
    // Several reads that were under way fail together; together they are one failure.
    if (this.#coolUntil > this.#monotonic() && !isOfWrongChain) return;
    this.#failures += 1;
    this.#failure = error.message;
    this.#admitted = this.#identity === null && this.#proof === null;
    if (isOfWrongChain) {
      if (!this.#isOfWrongChain) logEvent("node.wrong_chain", { reason: error.message });
      this.#isOfWrongChain = true;
      this.#coolUntil = this.#monotonic() + WRONG_CHAIN_MS;
      return;
    }
    const pause = pauseAfter(error, this.#failures);
    this.#coolUntil = this.#monotonic() + pause;
    logEvent("node.failed", {
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
