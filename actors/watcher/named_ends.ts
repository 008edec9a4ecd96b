/**
 * Ends of own transactions that pay nothing, by the ids of their blocks. On chains whose receipts carry no id under their root, a node
 * can tell another sender's failed transaction of a true block by the id of a payout, which would be given back and land afterwards.
 * Such an end counts only where the block's hash proves that the transaction at its place has that id; of what has paid, the
 * transfer itself is the proof, unless another transaction of the service moves the same: then the ids of the two can be swapped.
 *
 * @module
 */

import { type Block, type Chain, ChainUnavailable } from "../../chains/chain.ts";
import type { EndDoubt } from "../../ledger/watcher/end_proofs.ts";
import type { OutcomeFinding } from "../../ledger/watcher/record_outcomes.ts";

const UNPROVEN_IDS = "no node proves the ids of the block's transactions";
/** Nothing but a newer release reads what an upgrade of the chain has added. */
const UNKNOWN_FIELDS =
  `${UNPROVEN_IDS}, as its hash is not that of the fields which this release knows: ` +
  "upgrade it, or take out the node that shows others";

/** Bound of the questions about all blocks that are written together, milliseconds. */
const PROOF_MS = 8_000;

/**
 * Finds ends whose ids are not proven. What moves the chain's own coin needs no proof: it pays no merchant.
 *
 * @param alike those that have paid and need the proof as well, see `findAlike`
 * @returns empty on chains whose ids are not proven apart from what they did
 */
export async function unnamedEnds(
  chain: Pick<Chain, "provenIds">,
  blocks: readonly Block[],
  findings: readonly OutcomeFinding[],
  alike: ReadonlySet<OutcomeFinding>,
): Promise<ReadonlyMap<OutcomeFinding, EndDoubt>> {
  const unnamed = new Map<OutcomeFinding, EndDoubt>();
  const { provenIds } = chain;
  const doubtful = findings.filter((end) =>
    end.own.currency !== "native" && (end.result !== "paid" || alike.has(end))
  );
  // what one transaction carries ends together
  const txids = new Set(doubtful.map(({ own }) => own.txid));
  const ends = findings.filter(({ own }) => txids.has(own.txid));
  if (provenIds === undefined || ends.length === 0) return unnamed;
  const signal = AbortSignal.timeout(PROOF_MS);
  for (const { hash, transactions, isUnbound } of blocks) {
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
          ? { reason: isUnbound === true ? UNKNOWN_FIELDS : UNPROVEN_IDS, isAlarming: false }
          : {
            reason: `transaction ${place} of the block is another one (${proven ?? "none"})`,
            isAlarming: true,
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
