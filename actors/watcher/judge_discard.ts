/**
 * Judges whether a large transfer that the scan has met is none after all: what an operator says of it has to
 * be what the nodes show that are configured now, ours and a second one.
 *
 * @module
 */

import type { BlockAnswer, Chain } from "../../chains/chain.ts";
import type { AwaitedProof, DepositEvidence } from "../../ledger/watcher/deposit_proofs.ts";
import { answerOf, type SecondNode, solidBlockOf } from "./second_node.ts";

/** The nodes' answer. */
export type DiscardJudgement =
  | { readonly kind: "absent"; readonly evidence: DepositEvidence }
  /** Some node shows it, in this way or another. */
  | { readonly kind: "not_so"; readonly why: string }
  /** Too few nodes have its block now. */
  | { readonly kind: "unread"; readonly why: string };

/** The nodes that are asked. */
export interface DiscardDeps {
  readonly chain: Pick<Chain, "blocks">;
  readonly nodes: readonly Pick<SecondNode, "name" | "chain">[];
}

/**
 * Asks for the block of a transfer: it is absent where our nodes have the block without it, at least
 * one second node has the very same block without it, and none has it.
 *
 * @param now Unix milliseconds, kept with the evidence
 * @param boundMs how long the nodes are asked
 */
export async function judgeDiscard(
  { chain, nodes }: DiscardDeps,
  transfer: Pick<AwaitedProof, "txid" | "logIndex" | "height">,
  now: number,
  boundMs: number,
): Promise<DiscardJudgement> {
  const { height } = transfer;
  const signal = AbortSignal.timeout(boundMs);
  const [own, ...seconds] = await Promise.all([
    answerOf((bound) => ownBlock(chain, height, bound), signal),
    ...nodes.map(({ chain }) => solidBlockOf(chain, height, signal)),
  ]);
  if (own?.kind !== "block") {
    return { kind: "unread", why: `No configured node shows block ${height}; ask again.` };
  }
  const shows = (answer: BlockAnswer | null | undefined) =>
    answer?.kind === "block" &&
    answer.block.transfers.some(({ txid, logIndex }) =>
      txid === transfer.txid && logIndex === transfer.logIndex
    );
  const again = `if another node is wrong, take it out and read block ${height} again (rescan)`;
  if (shows(own)) return { kind: "not_so", why: `The configured nodes show it: ${again}.` };
  let agreeing: string | null = null;
  for (const [index, { name }] of nodes.entries()) {
    const answer = seconds[index];
    if (shows(answer)) return { kind: "not_so", why: `${name} shows it: ${again}.` };
    if (answer?.kind === "block" && answer.block.hash === own.block.hash) agreeing = name;
  }
  if (agreeing === null) {
    const why = `No second node has the same block ${height} as the configured nodes; ask again.`;
    return { kind: "unread", why };
  }
  return {
    kind: "absent",
    evidence: { node: agreeing, height, hash: own.block.hash, askedAt: now },
  };
}

async function ownBlock(
  chain: Pick<Chain, "blocks">,
  height: number,
  signal: AbortSignal,
): Promise<BlockAnswer | null> {
  for await (const answer of chain.blocks(height, height, "solid", signal)) return answer;
  return null;
}
