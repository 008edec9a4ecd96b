/**
 * Blocks of the head view that are kept until they are solid, so that they are read once: where the newest
 * solid block is one of them, or the child of one, its ancestors are the solid blocks, by their hashes.
 *
 * @module
 */

import type { Block, BlockRef, Checkpoint } from "../../chains/chain.ts";
import { continues } from "./covered_heights.ts";

/** The kept blocks of one network; nothing rests on them but calls that need not be made. */
export class KeptBlocks {
  readonly #most: number;
  readonly #byHash = new Map<string, Block>();

  /** @param most blocks that are kept, the newest ones; 0: none */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Keeps blocks. Those of a branch that was left stay until newer ones take their place, and link to nothing. One whose
   * hash does not stand for its receipts is not kept: the node that names it as solid may have others.
   *
   * @returns how many were not kept for that
   */
  keep(blocks: readonly Block[]): number {
    if (this.#most === 0) return 0;
    const bound = blocks.filter(({ isUnbound }) => isUnbound !== true);
    for (const block of bound) {
      this.#byHash.delete(block.hash);
      this.#byHash.set(block.hash, block);
    }
    for (const hash of this.#byHash.keys()) {
      if (this.#byHash.size <= this.#most) break;
      this.#byHash.delete(hash);
    }
    return blocks.length - bound.length;
  }

  /** Forgets what the scan has passed. */
  passed(height: number): void {
    for (const block of this.#byHash.values()) {
      if (block.height <= height) this.#byHash.delete(block.hash);
    }
  }

  /**
   * The blocks after one that was read, up to the newest solid one or its parent, in order: each the
   * child of the one before by hash and height. Empty where one of them is not kept.
   */
  between(after: Checkpoint, newest: BlockRef): readonly Block[] {
    const chain: Block[] = [];
    let next = this.#blockAt(newest.hash, newest.height) ??
      this.#blockAt(newest.parentHash, newest.parentHeight);
    while (next !== undefined && next.height > after.height) {
      chain.push(next);
      if (continues(next, after)) return chain.reverse();
      // a node that names a parent above its child would lead around for ever
      if (next.parentHeight >= next.height) return [];
      next = this.#blockAt(next.parentHash, next.parentHeight);
    }
    return [];
  }

  /** True for a block that is kept, so that what it shows was marked by it. */
  has({ hash, height }: Pick<BlockRef, "hash" | "height">): boolean {
    return this.#blockAt(hash, height) !== undefined;
  }

  #blockAt(hash: string, height: number): Block | undefined {
    const block = this.#byHash.get(hash);
    return block?.height === height ? block : undefined;
  }
}
