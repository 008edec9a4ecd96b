/**
 * A chain on paper of another kind than TRON: it passes heights by, so that a block's parent may be far
 * below it, and it counts lives in blocks, not in time. What holds for it is no habit of one chain.
 *
 * @module
 */

import type { Block, BlockRef, Chain } from "../../chains/chain.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { paperChain } from "./paper_chain.ts";

/** Time of the block at a height, Unix milliseconds. */
export const timeAt = (height: number) => 1_700_000_000_000 + height * 400;

/** Tick of the block at a height: blocks are counted, as if a life were no time. */
export const tickAt = (height: number) => 1_000 + height;

/** The last tick of a transaction that no tick ends. */
export const ENDLESS = Number.MAX_SAFE_INTEGER;

/** A block of a chain that passes heights by, empty but for what a test puts into it. */
export function sparseBlock(
  height: number,
  parentHeight: number,
  content: Partial<Block> = {},
): Block {
  return {
    height,
    parentHeight,
    hash: `b${height}`,
    parentHash: `b${parentHeight}`,
    time: timeAt(height),
    tick: tickAt(height),
    transactions: [],
    transfers: [],
    ...content,
  };
}

/** A chain that has these blocks, all of them solid, in order. Tests may append more. */
export function sparseChain(
  network: Network,
  blocks: readonly Block[],
  replaced: Partial<Chain> = {},
): Chain {
  const newest = (): Promise<BlockRef> => {
    const block = blocks.at(-1);
    if (block === undefined) throw new Error("Cannot tell the newest block as there is none");
    return Promise.resolve(block);
  };
  return paperChain(network, {
    head: newest,
    solid: newest,
    block: (height) => {
      const block = blocks.find((one) => one.height === height);
      return Promise.resolve(
        block === undefined ? { kind: "missing", height } : { kind: "block", block },
      );
    },
    async *blocks(from, to) {
      for (const block of blocks) {
        if (block.height >= from && block.height <= to) yield await { kind: "block", block };
      }
    },
    ...replaced,
  });
}
