/**
 * Ends of large transfers for which one node's word is not enough: that they failed, or that what cancels them is in the block.
 *
 * @module
 */

import { add, type Amount, ZERO } from "../money/amount.ts";
import type { EndTestimony, ListedEnd } from "./late_outcomes.ts";
import type { OutcomeFinding, OwnTransaction } from "./record_outcomes.ts";

/** The reason for which an end is not written yet. */
export interface EndDoubt {
  /** For operators, after `in block N, and not ended yet: `. */
  readonly reason: string;
  /** A node lies, or nodes contradict each other: an operator has to look. */
  readonly isAlarming: boolean;
}

/** Doubt about a transfer that nodes tell in more than one block. */
export const SEVERAL_BLOCKS: EndDoubt = {
  reason: "nodes have told it in each of them, and one at most has it",
  isAlarming: true,
};

/** The second opinion that the ends of large transfers need. */
export interface EndProofs {
  /** Of more than this, in any token, what one transaction moves. */
  readonly above: Amount;
  /** Those that have it, by transaction id. */
  readonly testimonies: ReadonlyMap<string, EndTestimony>;
  /** Reasons for which others do not, by {@linkcode endKey}; absent: second nodes were not asked. */
  readonly doubts?: ReadonlyMap<string, EndDoubt>;
}

/** Names an end: one transaction may be listed for several blocks, of which one has it. */
export function endKey({ txid, height }: Pick<ListedEnd, "txid" | "height">): string {
  return `${txid}/${height}`;
}

/**
 * Finds ends that give money back, or have it paid by another transaction, and that lack a second node's word of the very
 * block. What moves the chain's own coin needs none: it pays no merchant.
 *
 * @param own all that the transactions carry
 * @param proofs null: none needs one
 * @returns what is known of why; null while second nodes were not asked
 */
export function unprovenEnds(
  findings: readonly OutcomeFinding[],
  own: readonly OwnTransaction[],
  proofs: EndProofs | null,
): ReadonlyMap<OutcomeFinding, EndDoubt | null> {
  const unproven = new Map<OutcomeFinding, EndDoubt | null>();
  if (proofs === null) return unproven;
  const { above, testimonies, doubts } = proofs;
  for (const finding of findings) {
    const { own: { txid, currency }, result, height, hash } = finding;
    if (result !== "failed" && result !== "cancelled" || currency === "native") continue;
    const moved = own.filter((one) => one.txid === txid)
      .reduce((total, { amount }) => add(total, amount), ZERO);
    if (moved <= above) continue;
    const testimony = testimonies.get(txid);
    if (testimony?.height !== height) {
      unproven.set(finding, doubts?.get(endKey({ txid, height })) ?? null);
    } else if (testimony.hash !== hash) {
      const reason = `${testimony.node} has another block ${height} than our scan`;
      unproven.set(finding, { reason, isAlarming: true });
    }
  }
  return unproven;
}
