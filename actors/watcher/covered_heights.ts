/**
 * Heights that blocks prove to have been read. Chains may pass heights by; a block that names its
 * parent's height, and is linked to it by its hash, proves that no block is between the two.
 *
 * @module
 */

import type { Block, BlockRef, Checkpoint } from "../../chains/chain.ts";
import type { HeightRange } from "../../ledger/watcher/cursor.ts";

/** True if a block is the child of another, by hash and by height. */
export function continues(
  block: Pick<BlockRef, "parentHash" | "parentHeight">,
  parent: Checkpoint,
): boolean {
  return block.parentHash === parent.hash && block.parentHeight === parent.height;
}

/**
 * The heights that blocks cover: their own, and those that were passed by between them and their
 * parents. `covered` counts what each block covers by itself, so that it is less than the range where
 * one is missing.
 *
 * @param blocks in order, at least one
 */
export function heightsOf(blocks: readonly Block[]): HeightRange & { readonly covered: number } {
  const [lowest] = blocks;
  const highest = blocks.at(-1);
  if (lowest === undefined || highest === undefined) {
    throw new RangeError("Cannot tell which heights were read as there is no block");
  }
  return {
    first: lowest.parentHeight + 1,
    last: highest.height,
    covered: blocks.reduce((sum, { height, parentHeight }) => sum + height - parentHeight, 0),
  };
}
