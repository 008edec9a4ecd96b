/**
 * Offers signed bytes to every node of a network: one acceptance is enough.
 *
 * @module
 */

import { type BroadcastOutcome, ChainUnavailable } from "../chain.ts";
import { Deadline } from "./deadline.ts";
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

/** The longest that one offer to one node takes, its turn among the node's other calls included, milliseconds. */
const OFFER_MS = 10_000;
/** Time for which the other nodes are waited for once one has answered, milliseconds. */
const OTHERS_MS = 1_000;
/** Offers that one node may leave unanswered until it is passed over for others. */
const MOST_UNANSWERED = 64;

/** Asks one node to take the bytes, and classifies its answer. */
export type Offer = (node: ChainNode, signal: AbortSignal) => Promise<BroadcastOutcome>;

/** Offers signed bytes to the nodes of one network. */
export class Offers {
  readonly #nodes: readonly ChainNode[];
  readonly #isLeftAlone: (node: ChainNode) => boolean;
  readonly #unanswered = new Map<ChainNode, number>();

  /** @param isLeftAlone true for a node that has failed and is not read now */
  constructor(nodes: readonly ChainNode[], isLeftAlone: (node: ChainNode) => boolean) {
    this.#nodes = nodes;
    this.#isLeftAlone = isLeftAlone;
  }

  /**
   * Offers bytes to all nodes at once. That one takes them, or has them already, is reported without waiting for the others,
   * which are still offered them. Anything less counts when all have answered, or a second after the first of them; nodes that
   * are left alone are waited for where no other answers. One that does not answer says nothing about the outcome.
   */
  async toAll(offer: Offer, signal?: AbortSignal): Promise<BroadcastOutcome> {
    const nodes = this.#offered();
    const outcomes: BroadcastOutcome[] = [];
    const awaited = new Set(nodes.filter((node) => !this.#isLeftAlone(node)));
    const first = Promise.withResolvers<void>();
    const enough = Promise.withResolvers<void>();
    let hasAnswer = false;
    const all = Promise.all(nodes.map(async (node) => {
      const { outcome, isAnswer } = await this.#toOne(node, offer, signal);
      outcomes.push(outcome);
      awaited.delete(node);
      hasAnswer ||= isAnswer;
      if (isAnswer) first.resolve();
      if (isTaken(outcome) || (hasAnswer && awaited.size === 0)) enough.resolve();
    }));
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = first.promise.then(() =>
      new Promise<void>((resolve) => timer = setTimeout(resolve, OTHERS_MS))
    );
    try {
      await Promise.race([all, enough.promise, late]);
    } finally {
      clearTimeout(timer);
    }
    // a node that has not answered may have passed them on
    const silent = outcomes.length < this.#nodes.length ? [unclear("SILENT")] : [];
    return combineOutcomes([...outcomes, ...silent]);
  }

  /** All nodes, but for those that leave too many unanswered, so that what they never answer stays bounded. */
  #offered(): readonly ChainNode[] {
    const answering = this.#nodes.filter((node) =>
      (this.#unanswered.get(node) ?? 0) < MOST_UNANSWERED
    );
    return answering.length > 0 ? answering : this.#nodes;
  }

  async #toOne(
    node: ChainNode,
    offer: Offer,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly outcome: BroadcastOutcome; readonly isAnswer: boolean }> {
    const count = (by: number) =>
      this.#unanswered.set(node, (this.#unanswered.get(node) ?? 0) + by);
    using deadline = new Deadline(OFFER_MS);
    count(1);
    try {
      return { outcome: await offer(node, deadline.with(signal)), isAnswer: true };
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      return { outcome: unclear(error.category.toUpperCase()), isAnswer: false };
    } finally {
      count(-1);
    }
  }
}

/** True where nothing that other nodes say is better news. */
function isTaken({ category }: BroadcastOutcome): boolean {
  return category === "accepted" || category === "known";
}
