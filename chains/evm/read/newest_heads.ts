/**
 * The newest block of each node, for what changes with every block: prices, and whether a transaction would fail. A
 * node that is stuck answers that as readily as any other, so its answer counts only where its newest block is near the
 * clock, and near a height that two other nodes have reached: one node that names a far height makes no other one stuck.
 *
 * @module
 */

import { blockTime } from "../../block_clock.ts";
import { type BlockRef, ChainUnavailable } from "../../chain.ts";
import type { NewestPlace } from "../../nodes/believed_nodes.ts";
import { NEAR_BLOCKS, NEAR_MS } from "../../nodes/furthest_block.ts";
import type { ChainNode } from "../../nodes/node.ts";
import { headSchema } from "./answers.ts";
import { blockRefOf } from "./parse_block.ts";
import { type EvmSource, headCall, type KnownHeads, rpc } from "./source.ts";

/** Time for which a node's newest block is not asked for again. */
const KNOWN_MS = 10_000;
/** Time after which what a node said of its newest block is no measure of others. */
const MEASURE_MS = 60_000;

/** Fewer nodes than this do not show which of them is wrong. */
const FEWEST_WITNESSES = 3;

/** The height that two nodes have reached; null where there are too few of them to say. */
export function confirmedHeight(heights: readonly number[]): number | null {
  if (heights.length < FEWEST_WITNESSES) return null;
  return heights.toSorted((a, b) => b - a)[1] ?? null;
}

/** See the module. */
export class NewestHeads implements KnownHeads {
  readonly #known = new Map<ChainNode, { readonly block: BlockRef; readonly at: number }>();
  readonly #place: NewestPlace;
  readonly #blockMs: number;
  readonly #monotonic: () => number;

  /**
   * @param place bounds what a newest block can be
   * @param blockMs time between two blocks
   * @param monotonic milliseconds of a clock that is never set
   */
  constructor(
    place: NewestPlace,
    blockMs: number,
    monotonic: () => number = () => performance.now(),
  ) {
    this.#place = place;
    this.#blockMs = blockMs;
    this.#monotonic = monotonic;
  }

  record(node: ChainNode, block: BlockRef): void {
    this.#known.set(node, { block, at: this.#monotonic() });
  }

  async of(node: ChainNode, signal: AbortSignal): Promise<BlockRef> {
    const known = this.#known.get(node);
    if (known !== undefined && this.#monotonic() - known.at < KNOWN_MS) return known.block;
    const block = blockRefOf(await rpc.ask(node, headCall("latest"), headSchema, signal));
    this.#place.require(block, node.label);
    this.record(node, block);
    return block;
  }

  isNear({ height, time }: BlockRef): boolean {
    const nearMs = Math.max(NEAR_MS, NEAR_BLOCKS * this.#blockMs);
    const behind = (this.#confirmed ?? height) - height;
    return behind <= Math.max(NEAR_BLOCKS, nearMs / this.#blockMs) &&
      blockTime() - time < nearMs;
  }

  isFurther({ height }: BlockRef, than: BlockRef): boolean {
    const most = this.#confirmed ?? Infinity;
    return Math.min(height, most) > Math.min(than.height, most);
  }

  get #confirmed(): number | null {
    const now = this.#monotonic();
    const measures = [...this.#known.values()].filter(({ at }) => now - at < MEASURE_MS);
    return confirmedHeight(measures.map(({ block }) => block.height));
  }
}

/** An answer, and the newest block of the node that gave it. */
export interface AnswerAt<T> {
  readonly head: BlockRef;
  readonly answer: T;
}

/** The answer of a node, with its newest block. */
export async function answerAt<T>(
  { heads }: EvmSource,
  node: ChainNode,
  ask: (node: ChainNode, signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<AnswerAt<T>> {
  const [head, answer] = await Promise.all([heads.of(node, signal), ask(node, signal)]);
  return { head, answer };
}

/** A failed simulation is an answer as well: that of a node which is behind counts as little as any of it. */
type Simulated<T> = { readonly value: T } | { readonly reverted: ChainUnavailable };

/**
 * Reads what changes with every block, from the first node whose newest block is near; where none has one, from the one
 * that is furthest.
 *
 * @throws {ChainUnavailable} `reverted` where a simulation fails at that node; when none can be read
 */
export async function readFresh<T>(
  source: EvmSource,
  ask: (node: ChainNode, signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const simulate = async (node: ChainNode, bound: AbortSignal): Promise<Simulated<T>> => {
    try {
      return { value: await ask(node, bound) };
    } catch (error) {
      if (!(error instanceof ChainUnavailable) || error.category !== "reverted") throw error;
      return { reverted: error };
    }
  };
  const { answer } = await source.pool.read(
    (node, bound) => answerAt(source, node, simulate, bound),
    {
      signal,
      isEnough: ({ head }) => source.heads.isNear(head),
      better: (kept, found) => source.heads.isFurther(found.head, kept.head) ? found : kept,
    },
  );
  if ("reverted" in answer) throw answer.reverted;
  return answer.value;
}
