/**
 * Places in a chain, and the views in which it is asked.
 *
 * @module
 */

/** A block's place in its chain. */
export interface BlockRef {
  readonly height: number;
  /** Height of its parent: one less, but on chains that pass heights by. No block is at any between. */
  readonly parentHeight: number;
  readonly hash: string;
  readonly parentHash: string;
  /** Block time, Unix milliseconds. */
  readonly time: number;
  /** Count in which the chain measures lifetimes; it never falls from a block to the next (TRON: block time). */
  readonly tick: number;
}

/** The newest block that any node names. */
export interface FurthestBlock extends BlockRef {
  /** Time by which it is behind the clock, milliseconds; 0 where it is near enough to be the chain's newest one. */
  readonly behindMs: number;
  /**
   * The nonce of the hot wallet's next transaction, the highest that any of these nodes names by its newest block; null on chains
   * that count none.
   */
  readonly nonce: number | null;
}

/**
 * A solid block that our own scan has read. A node that has another one in its place is of another
 * chain, whatever its first block; a node without it cannot be told from one. Neither is believed.
 */
export type Checkpoint = Pick<BlockRef, "height" | "hash">;

/** A block that our own scan has read, and when it was made. */
export type Place = Pick<BlockRef, "height" | "hash" | "time">;

/** Which view of the chain is asked: `head` may still change, `solid` never does. */
export type Finality = "head" | "solid";
