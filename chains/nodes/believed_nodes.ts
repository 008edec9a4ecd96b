/**
 * The checks that a node must pass to be believed.
 *
 * The id of the first block tells a node of the right chain from others: it differs between the main
 * network, its test networks and private ones. It does not tell the branches of one chain apart: a
 * node that was left behind on a branch, or was made from another's past, has the same first block and
 * other solid ones; a checkpoint finds it. A newest block that no chain can have by now is not believed.
 *
 * @module
 */

import { blockTime } from "../block_clock.ts";
import {
  type BlockRef,
  ChainUnavailable,
  type Checkpoint,
  type Finality,
  type Place,
} from "../chain.ts";
import type { ChainNode } from "./node.ts";
import { WrongChainNode } from "./node_failures.ts";

/** Reads one block's place from a node, in the chain's own dialect; null where the node lacks it. */
export type BlockAt = (
  node: ChainNode,
  height: number,
  finality: Finality,
  signal: AbortSignal,
) => Promise<BlockRef | null>;

/**
 * Asks a node what else it says of its chain than its first block, such as the chain's number.
 *
 * @throws {WrongChainNode} when it is of another chain
 * @throws {ChainUnavailable} when it does not answer
 */
export type RequireIdentity = (node: ChainNode, signal: AbortSignal) => Promise<void>;

/** The chain that all nodes of a network must be of. */
export class ChainIdentity {
  #genesis: string | null = null;

  /**
   * @param blockAt the dialect of the network's nodes
   * @param requireMore asked besides; absent where the first block says all
   */
  constructor(readonly blockAt: BlockAt, readonly requireMore?: RequireIdentity) {}

  /** Id of the first block; null while no node has said it. */
  get genesis(): string | null {
    return this.#genesis;
  }

  /** Fixes the chain, from what was kept when it was first read. */
  expect(genesis: string): void {
    this.#genesis = genesis;
  }

  /**
   * Asks a node for the first block, and what its dialect has besides. The first answer names the
   * chain, where nothing else has.
   *
   * @throws {WrongChainNode} when it is of another chain
   * @throws {ChainUnavailable} when it does not answer
   */
  async require(node: ChainNode, signal: AbortSignal): Promise<void> {
    await this.requireMore?.(node, signal);
    const first = await readBlockAt(this.blockAt, node, 0, "head", signal);
    if (first === null) return;
    this.#genesis ??= first.hash;
    if (this.#genesis === first.hash) return;
    throw new WrongChainNode(
      `Cannot use a node as it is of another chain (first block ${first.hash}, not ` +
        `${this.#genesis}): ${node.label}`,
    );
  }
}

/**
 * True if a node has the checkpoint among its solid blocks; otherwise it is behind.
 *
 * @throws {WrongChainNode} when it has another block in its place
 */
export async function hasCheckpoint(
  blockAt: BlockAt,
  node: ChainNode,
  { height, hash }: Checkpoint,
  signal: AbortSignal,
): Promise<boolean> {
  const block = await readBlockAt(blockAt, node, height, "solid", signal);
  if (block === null) return false;
  if (block.hash === hash) return true;
  throw new WrongChainNode(
    `Cannot use a node as it is of another chain (solid block ${height} is ${block.hash}, not ` +
      `${hash}): ${node.label}`,
  );
}

async function readBlockAt(
  blockAt: BlockAt,
  node: ChainNode,
  height: number,
  finality: Finality,
  signal: AbortSignal,
): Promise<BlockRef | null> {
  const block = await blockAt(node, height, finality, signal);
  if (block === null || block.height === height) return block;
  throw new ChainUnavailable(
    "malformed",
    `Cannot tell a node's chain as it answered block ${block.height} for block ${height}: ` +
      node.label,
  );
}

/** So many blocks a node may have that were not expected: a chain that made them in a hurry. */
const SLACK_BLOCKS = 1_000;

/** A block's time may be so much ahead of the clock: both are set, and neither to the second. */
export const MOST_AHEAD_MS = 120_000;

/**
 * Makes sure that a block's time has come. What waits for blocks of some time would be taken for over by one of the
 * future, and no such block would follow for as long.
 *
 * @param mostAheadMs by which it may be ahead of the clock; `Infinity` on a development chain, whose time may leap
 * @param node named when it is not believed
 * @throws {ChainUnavailable} `malformed` when it has not
 */
export function requireTime(
  { height, time }: Pick<BlockRef, "height" | "time">,
  mostAheadMs: number,
  node: string,
): void {
  const ahead = time - blockTime();
  if (ahead <= mostAheadMs) return;
  throw new ChainUnavailable(
    "malformed",
    `Cannot believe a node as the time of its block ${height} is ${Math.round(ahead / 1_000)} s ` +
      `ahead of the clock: ${node}`,
  );
}

/**
 * Bounds what the newest block of a chain can be: from a block that the scan has read, no chain grows by more
 * blocks than its time allows.
 */
export class NewestPlace {
  #read: Place | null = null;

  /**
   * @param leastBlockMs time between two blocks at least
   * @param mostAheadMs see {@linkcode requireTime}
   */
  constructor(readonly leastBlockMs: number, readonly mostAheadMs: number = MOST_AHEAD_MS) {}

  /** Records a block that the scan has read. */
  record(place: Place): void {
    this.#read = place;
  }

  /**
   * @param node named when it is not believed
   * @throws {ChainUnavailable} `malformed` when no chain can have grown so much, or its time has not come
   */
  require(block: BlockRef, node: string): void {
    requireTime(block, this.mostAheadMs, node);
    const read = this.#read;
    if (read === null) return;
    const expected = Math.max(0, block.time - read.time) / this.leastBlockMs;
    if (block.height - read.height <= Math.max(SLACK_BLOCKS, expected)) return;
    throw new ChainUnavailable(
      "malformed",
      `Cannot believe a node as its newest block ${block.height} is further from block ` +
        `${read.height}, which was read, than their times allow: ${node}`,
    );
  }
}
