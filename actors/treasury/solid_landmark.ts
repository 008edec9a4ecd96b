import { type Chain, type Landmark, NotOurChain } from "../../chains/chain.ts";
import type { Cursor } from "../../ledger/watcher/cursor.ts";

/**
 * What a node must have before its balances are believed: the last block of our own scan, or the one
 * by which the newest of our transactions has ended, whichever is later. An end is recorded before
 * the cursor moves past its block, and leaves the promises at once: a node before that block shows
 * money that is neither there nor promised any more.
 *
 * @param cursor the solid cursor
 * @param endedHeight as the promises say that were read before
 * @returns undefined where nothing was read yet: then any node is believed
 * @throws {NotOurChain} when no node of our chain has the block yet
 * @throws {ChainUnavailable} when no node answers
 */
export async function solidLandmark(
  chain: Pick<Chain, "network" | "blocks">,
  cursor: Cursor | null,
  endedHeight: number | null,
): Promise<Landmark | undefined> {
  const known = cursor ?? undefined;
  if (endedHeight === null || endedHeight <= (known?.height ?? -1)) return known;
  // its hash is known to nodes alone: to those that have what our scan has read
  for await (const answer of chain.blocks(endedHeight, endedHeight, "solid", undefined, known)) {
    if (answer.kind === "block") return answer.block;
  }
  throw new NotOurChain(
    `Cannot believe any node of ${chain.network} as none has solid block ${endedHeight}`,
  );
}
