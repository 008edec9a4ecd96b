/**
 * Offers signed bytes to every node of a network: one acceptance is enough.
 *
 * @module
 */

import { type BroadcastOutcome, ChainUnavailable } from "../chain.ts";
import type { ChainNode } from "./node.ts";

/** An outcome from which nothing follows. */
export function unclear(code: string, message = ""): BroadcastOutcome {
  return { category: "unclear", retryable: true, code, ...(message === "" ? {} : { message }) };
}

const PRECEDENCE = { accepted: 0, known: 1, unclear: 2, rejected: 3 } as const;

/** Lower is the better news; among rejections one that may mend itself comes first. */
function rank(outcome: BroadcastOutcome): number {
  return PRECEDENCE[outcome.category] + (outcome.retryable ? 0 : 0.5);
}

/**
 * The outcome of several nodes' answers together: one acceptance is enough, and a doubt outweighs a
 * rejection, because the node in doubt may have passed the transaction on.
 */
export function combineOutcomes(outcomes: readonly BroadcastOutcome[]): BroadcastOutcome {
  return outcomes.toSorted((a, b) => rank(a) - rank(b))[0] ?? unclear("NO_NODE");
}

/**
 * Offers bytes to all nodes at once. An acceptance is reported without waiting for the other nodes,
 * which are still offered them; anything less counts only when all have answered. A node that fails
 * to answer says nothing about the outcome.
 *
 * @param offer asks one node and classifies its answer
 */
export async function offerToAll(
  nodes: readonly ChainNode[],
  offer: (node: ChainNode) => Promise<BroadcastOutcome>,
): Promise<BroadcastOutcome> {
  const { promise, resolve, reject } = Promise.withResolvers<BroadcastOutcome>();
  const offers = nodes.map(async (node) => {
    const outcome = await offerToOne(node, offer);
    if (outcome.category === "accepted") resolve(outcome);
    return outcome;
  });
  Promise.all(offers).then((outcomes) => resolve(combineOutcomes(outcomes)), reject);
  return await promise;
}

async function offerToOne(
  node: ChainNode,
  offer: (node: ChainNode) => Promise<BroadcastOutcome>,
): Promise<BroadcastOutcome> {
  try {
    return await offer(node);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return unclear(error.category.toUpperCase());
  }
}
