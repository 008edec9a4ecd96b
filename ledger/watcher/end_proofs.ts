/**
 * Ends of large transfers for which one node's word is not enough: that they failed, or that what cancels them is in the block.
 *
 * @module
 */

import { add, type Amount, ZERO } from "../money/amount.ts";
import type { EndTestimony } from "./late_outcomes.ts";
import type { OutcomeFinding, OwnTransaction } from "./record_outcomes.ts";

/** The second opinion that the ends of large transfers need. */
export interface EndProofs {
  /** Of more than this, in any token, what one transaction moves. */
  readonly above: Amount;
  /** Those that have it, by transaction id. */
  readonly testimonies: ReadonlyMap<string, EndTestimony>;
}

/**
 * Finds ends that give money back, or have it paid by another transaction, and that lack a second node's word of the very
 * block. What moves the chain's own coin needs none: it pays no merchant.
 *
 * @param own all that the transactions carry
 * @param proofs null: none needs one
 */
export function unprovenEnds(
  findings: readonly OutcomeFinding[],
  own: readonly OwnTransaction[],
  proofs: EndProofs | null,
): ReadonlySet<OutcomeFinding> {
  if (proofs === null) return new Set();
  const { above, testimonies } = proofs;
  return new Set(findings.filter(({ own: { txid, currency }, result, height, hash }) => {
    if (result !== "failed" && result !== "cancelled" || currency === "native") return false;
    const moved = own.filter((one) => one.txid === txid)
      .reduce((total, { amount }) => add(total, amount), ZERO);
    const testimony = testimonies.get(txid);
    return moved > above && (testimony?.height !== height || testimony.hash !== hash);
  }));
}
