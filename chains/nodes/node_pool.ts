/**
 * Reads from several nodes: in the configured order, past those that are cooling down.
 *
 * @module
 */

import { ChainUnavailable, type Checkpoint, NotOurChain } from "../chain.ts";
import type { NetworkNodes, NodeState } from "../node_state.ts";
import {
  type BlockAt,
  ChainIdentity,
  hasCheckpoint,
  type RequireIdentity,
} from "./believed_nodes.ts";
import { Deadline } from "./deadline.ts";
import type { ChainNode } from "./node.ts";
import { WrongChainNode } from "./node_failures.ts";
import { NodeHealth } from "./node_health.ts";
import { Offers } from "./offers.ts";

/** Nodes that a read of several asks at least, where there are so many. */
const FEWEST_ASKED = 2;

/** Options of a read over several nodes. */
export interface PoolRead<T> {
  readonly signal?: AbortSignal | undefined;
  /** So many times the usual time it has over all nodes; default 1. */
  readonly timeFactor?: number;
  /**
   * Block that the very node that is read must have: one behind it is only passed over, one with another
   * block in its place is left alone, with an alarm. Absent: every node is believed.
   */
  readonly checkpoint?: Checkpoint | undefined;
  /** False for a poor result, as of a node that lags: another node is asked as well. */
  readonly isEnough?: (result: T) => boolean;
  /** Picks from two poor results when no node has a good one; default the first. */
  readonly better?: (kept: T, found: T) => T;
}

/** Bounds and checks of a pool. */
export interface PoolOptions {
  /** Bound of one read over all nodes, milliseconds. */
  readonly totalTimeoutMs: number;
  readonly blockAt: BlockAt;
  /** True if nodes are asked for the chain's first block before they are believed; default not. */
  readonly checksIdentity?: boolean;
  /** Asked of nodes with their first block; see {@linkcode RequireIdentity}. */
  readonly requireIdentity?: RequireIdentity;
  /** Milliseconds of a clock that is never set; default `performance.now`. */
  readonly monotonic?: () => number;
}

export class NodePool implements NetworkNodes {
  readonly blockAt: BlockAt;
  readonly meters: NetworkNodes["meters"];
  readonly offers: Offers;
  readonly #totalTimeoutMs: number;
  readonly #identity: ChainIdentity;
  readonly #health: ReadonlyMap<ChainNode, NodeHealth>;

  /** @param nodes in the order of preference */
  constructor(
    readonly nodes: readonly ChainNode[],
    options: PoolOptions,
  ) {
    const { totalTimeoutMs, blockAt, checksIdentity = false, requireIdentity } = options;
    this.blockAt = blockAt;
    this.meters = new Map(nodes.map((node) => [node.label, node.meter]));
    this.#totalTimeoutMs = totalTimeoutMs;
    const identity = new ChainIdentity(blockAt, requireIdentity);
    this.#identity = identity;
    this.#health = new Map(
      nodes.map((node) => [
        node,
        new NodeHealth(node, checksIdentity ? identity : null, options.monotonic),
      ]),
    );
    this.offers = new Offers(nodes, (node) => this.#healthOf(node).isCooling);
  }

  get states(): readonly NodeState[] {
    return this.nodes.map((node) => this.#healthOf(node).state);
  }

  get genesis(): string | null {
    return this.#identity.genesis;
  }

  expect(genesis: string): void {
    if (this.#identity.genesis === genesis) return;
    this.#identity.expect(genesis);
    for (const health of this.#health.values()) health.doubt();
  }

  /** Leaves a node alone that another one proved to be on another branch, until it has a block. */
  leaveUntilItHas(checkpoint: Checkpoint, node: ChainNode): void {
    const error = new WrongChainNode(
      `Cannot use a node as it is of another branch (it does not continue solid block ` +
        `${checkpoint.height}, as others do): ${node.label}`,
    );
    this.#healthOf(node).leaveUntil(error, async (signal) => {
      if (!await hasCheckpoint(this.blockAt, node, checkpoint, signal)) throw error;
    });
  }

  /**
   * Tries a read on one node after the other until one result is good enough.
   *
   * @param attempt reads from the given node; throws {@linkcode ChainUnavailable} when it cannot
   * @throws {NotOurChain} when only nodes without the checkpoint answered
   * @throws {ChainUnavailable} the last failure, or `rate-limit` when every node is cooling down
   */
  async read<T>(
    attempt: (node: ChainNode, signal: AbortSignal) => Promise<T>,
    terms: PoolRead<T> = {},
  ): Promise<T> {
    const { signal, checkpoint, isEnough = () => true, better = (kept) => kept } = terms;
    using total = new Deadline(this.#totalTimeoutMs * (terms.timeFactor ?? 1));
    const bound = total.with(signal);
    let poor: { readonly result: T } | null = null;
    let isBehind = false;
    let lastFailure: ChainUnavailable | null = null;
    for (const node of this.#inOrder()) {
      const health = this.#healthOf(node);
      if (health.isCooling) continue;
      if (bound.aborted) break;
      try {
        await health.admit(bound);
        if (
          checkpoint !== undefined && !await hasCheckpoint(this.blockAt, node, checkpoint, bound)
        ) {
          isBehind = true;
          health.succeeded();
          continue;
        }
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
    const labels = this.nodes.map((node) => node.label).join(", ");
    if (isBehind) {
      throw new NotOurChain(
        `Cannot believe any node as none that answers has solid block ${checkpoint?.height}: ${labels}`,
      );
    }
    if (checkpoint !== undefined && lastFailure instanceof WrongChainNode) {
      throw new NotOurChain(lastFailure.message, { cause: lastFailure });
    }
    throw lastFailure ?? this.#allCooling();
  }

  /**
   * Asks several nodes at once, as they are preferred. One whose calls per second are used up is left out while two others
   * are free. What has not come when this returns is given up, so that it waits for no turn of its node.
   *
   * @param terms `most`: so many nodes; `othersMs`: once one has answered, the others are waited for so long; `latestMs`: no longer
   *   than so long after the call, so that an answer at hand is of use to a caller that has little time; default without a bound
   * @returns at least one answer
   * @throws {ChainUnavailable} when none answers
   */
  async readSeveral<T>(
    attempt: (node: ChainNode, signal: AbortSignal) => Promise<T>,
    { signal, most, othersMs, latestMs = Infinity }: {
      readonly signal?: AbortSignal | undefined;
      readonly most: number;
      readonly othersMs: number;
      readonly latestMs?: number;
    },
  ): Promise<readonly T[]> {
    const latest = performance.now() + latestMs;
    using total = new Deadline(this.#totalTimeoutMs);
    const over = new AbortController();
    const bound = AbortSignal.any([total.with(signal), over.signal]);
    const answers: T[] = [];
    let lastFailure: ChainUnavailable | null = null;
    const first = Promise.withResolvers<void>();
    const ask = async (node: ChainNode) => {
      const health = this.#healthOf(node);
      try {
        await health.admit(bound);
        answers.push(await attempt(node, bound));
        health.succeeded();
        first.resolve();
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
        if (!bound.aborted) health.failed(error);
        lastFailure = error;
      }
    };
    const all = Promise.all(this.#askable().slice(0, most).map(ask));
    let timer: ReturnType<typeof setTimeout> | undefined;
    const enough = first.promise.then(() => {
      const ms = Math.max(0, Math.min(othersMs, latest - performance.now()));
      return new Promise<void>((resolve) => timer = setTimeout(resolve, ms));
    });
    try {
      await Promise.race([all, enough]);
    } finally {
      clearTimeout(timer);
      over.abort();
    }
    if (answers.length > 0) return [...answers];
    throw lastFailure ?? this.#allCooling();
  }

  /**
   * Nodes that can be asked at once, and beside a single one that can the first that only has to wait for its turn, so that
   * one node's word is not all there is while another is there; where none can be asked at once, all that have to wait.
   */
  #askable(): readonly ChainNode[] {
    const awake = this.#inOrder().filter((node) => !this.#healthOf(node).isCooling);
    const free = awake.filter((node) => node.isFree);
    if (free.length === 0) return awake;
    const busy = awake.filter((node) => !free.includes(node));
    return [...free, ...busy.slice(0, Math.max(0, FEWEST_ASKED - free.length))];
  }

  #allCooling(): ChainUnavailable {
    const labels = this.nodes.map((node) => node.label).join(", ");
    return new ChainUnavailable(
      "rate-limit",
      `Cannot read from the chain as every node is cooling down: ${labels}`,
    );
  }

  /** As configured; those whose calls of today are used up come last, and are still asked. */
  #inOrder(): readonly ChainNode[] {
    return this.nodes.toSorted((a, b) =>
      Number(a.meter.isQuotaUsedUp) - Number(b.meter.isQuotaUsedUp)
    );
  }

  #healthOf(node: ChainNode): NodeHealth {
    const health = this.#health.get(node);
    if (health === undefined) throw new Error(`Cannot use a node of another pool: ${node.label}`);
    return health;
  }
}
