/**
 * Ends of own transactions that pay nothing, by the ids of their blocks. On chains whose receipts carry no id under their root, a node
 * can tell another sender's failed transaction of a true block by the id of a payout, which would be given back and land afterwards.
 * Such an end counts only where the block's hash proves that the transaction at its place has that id; of what has paid, the
 * transfer itself is the proof.
 *
 * @module
 */

import { type Block, type Chain, ChainUnavailable } from "../../chains/chain.ts";
import type { OutcomeFinding } from "../../ledger/watcher/record_outcomes.ts";

/** Bound of the questions about all blocks that are written together, milliseconds. */
const PROOF_MS = 8_000;

/** Doubt about an end. */
export interface UnnamedEnd {
  /** For operators, after `in block N, and not ended yet: `. */
  readonly reason: string;
  /** The block has another transaction at its place: the node that gave the block lies. */
  readonly isBelied: boolean;
}

/**
 * Finds ends whose ids are not proven. What moves the chain's own coin needs no proof: it pays no merchant.
 *
 * @returns empty on chains whose ids are not proven apart from what they did
 */
export async function unnamedEnds(
  chain: Pick<Chain, "provenIds">,
  blocks: readonly Block[],
  findings: readonly OutcomeFinding[],
): Promise<ReadonlyMap<OutcomeFinding, UnnamedEnd>> {
  const unnamed = new Map<OutcomeFinding, UnnamedEnd>();
  const { provenIds } = chain;
  const ends = findings.filter(({ own, result }) => result !== "paid" && own.currency !== "native");
  if (provenIds === undefined || ends.length === 0) return unnamed;
  const signal = AbortSignal.timeout(PROOF_MS);
  for (const { hash, transactions } of blocks) {
    const inBlock = ends.filter((end) => end.hash === hash);
    if (inBlock.length === 0) continue;
    const ids = await idsOf(provenIds, hash, signal);
    for (const end of inBlock) {
      const { txid } = end.own;
      const place = transactions.findIndex((one) => one.txid === txid);
      const proven = ids?.[place];
      if (proven === txid) continue;
      unnamed.set(
        end,
        ids === null
          ? { reason: "no node proves the ids of the block's transactions", isBelied: false }
          : {
            reason: `transaction ${place} of the block is another one (${proven ?? "none"})`,
            isBelied: true,
          },
      );
    }
  }
  return unnamed;
}

/** Null where no node shows what proves them now. */
async function idsOf(
  provenIds: NonNullable<Chain["provenIds"]>,
  hash: string,
  signal: AbortSignal,
): Promise<readonly string[] | null> {
  try {
    return await provenIds(hash, signal);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return null;
  }
}
