/**
 * Asks second, independent nodes whether a large transfer's transaction has moved nothing for them too, before that end counts:
 * it gives money back, or has it paid by another transaction. Their word stands beside the own scan's, and takes its place never.
 *
 * @module
 */

import { type EndDoubt, endKey } from "../../ledger/watcher/end_proofs.ts";
import type { EndTestimony, LargeEnd, ListedEnd } from "../../ledger/watcher/late_outcomes.ts";
import { answerOf, type SecondNode, solidBlockOf } from "../watcher/second_node.ts";

/** The second nodes' word on one end. */
export type EndOpinion =
  | { readonly kind: "agreed"; readonly testimony: EndTestimony }
  /** Alarming where they contradict what the own scan may have read. */
  | { readonly kind: "waits"; readonly doubt: EndDoubt };

/**
 * Asks about ends, one after the other. A node that does not answer is asked about the others at the next look.
 *
 * @param signal ends the questions; what was not asked by then has no opinion
 * @param now Unix milliseconds
 * @returns opinions by {@linkcode endKey}
 */
export async function askAboutEnds(
  nodes: readonly SecondNode[],
  ends: readonly LargeEnd[],
  signal: AbortSignal,
  now: () => number,
): Promise<ReadonlyMap<string, EndOpinion>> {
  const opinions = new Map<string, EndOpinion>();
  const silent = new Set<SecondNode>();
  for (const end of ends) {
    if (signal.aborted) break;
    opinions.set(endKey(end), await opinionOn(end, nodes, silent, now));
  }
  return opinions;
}

/**
 * Finds ends that no second node has in their blocks, of those that the own reading has not met there any more. A node that
 * has one there, in whatever way it ended, keeps it on the list; one that does not answer says nothing.
 *
 * @param signal ends the questions; what was not asked by then is not among the answer
 */
export async function deniedEnds(
  nodes: readonly SecondNode[],
  ends: readonly ListedEnd[],
  signal: AbortSignal,
): Promise<readonly ListedEnd[]> {
  const denied: ListedEnd[] = [];
  const silent = new Set<SecondNode>();
  for (const end of ends) {
    if (signal.aborted) break;
    const words: Word[] = [];
    for (const node of nodes) {
      const word = silent.has(node) ? null : await wordOf(node, end);
      if (word === null) silent.add(node);
      else words.push(word);
    }
    const isThere = words.some(({ kind }) => kind === "agrees" || kind === "otherwise");
    if (!isThere && words.some(({ kind }) => kind === "elsewhere")) denied.push(end);
  }
  return denied;
}

async function opinionOn(
  end: LargeEnd,
  nodes: readonly SecondNode[],
  silent: Set<SecondNode>,
  now: () => number,
): Promise<EndOpinion> {
  let testimony: EndTestimony | null = null;
  let reason = "no second node is configured";
  for (const node of nodes) {
    const word = silent.has(node) ? null : await wordOf(node, end);
    if (word === null) {
      silent.add(node);
      reason = `${node.name} does not answer`;
    } else if (word.kind === "behind") {
      reason = `${node.name} is behind`;
    } else if (word.kind === "otherwise" || word.kind === "elsewhere") {
      return { kind: "waits", doubt: { reason: `${node.name} ${word.what}`, isAlarming: true } };
    } else {
      const { hash } = word;
      testimony ??= { node: node.name, height: end.height, hash, askedAt: now() };
    }
  }
  return testimony === null
    ? { kind: "waits", doubt: { reason, isAlarming: false } }
    : { kind: "agreed", testimony };
}

/** One node's word on an end. */
type Word =
  | { readonly kind: "agrees"; readonly hash: string }
  | { readonly kind: "behind" }
  /** It has the transaction in that block, with another end. */
  | { readonly kind: "otherwise"; readonly what: string }
  /** That block is without it. */
  | { readonly kind: "elsewhere"; readonly what: string };

/** @returns null where the node does not answer */
async function wordOf(
  { chain }: SecondNode,
  { txid, purpose, height }: ListedEnd,
): Promise<Word | null> {
  const own = await solidBlockOf(chain, height);
  if (own === null) return null;
  if (own.kind !== "block") return { kind: "behind" };
  const { hash, transactions } = own.block;
  const here = transactions.find((one) => one.txid === txid);
  // a node without an index of transactions lacks by its id what its block has
  if (here === undefined) return await wordElsewhere(chain, txid, height);
  // what takes a nonce out of use moves nothing when it succeeds
  if (purpose === "pay" && here.success) {
    return { kind: "otherwise", what: "has the transaction as a success" };
  }
  return { kind: "agrees", hash };
}

/** The word of a node whose block at a height is without a transaction. */
async function wordElsewhere(
  chain: SecondNode["chain"],
  txid: string,
  height: number,
): Promise<Word | null> {
  const found = await answerOf((signal) => chain.transaction(txid, "solid", signal));
  if (found === null) return null;
  if (found.kind === "incomplete") return { kind: "behind" };
  if (found.kind === "missing") return { kind: "elsewhere", what: "does not have the transaction" };
  const other = found.transaction.height;
  // what it had a moment ago and has now are two blocks of one height: it is asked again
  if (other === height) return { kind: "behind" };
  return { kind: "elsewhere", what: `has the transaction in block ${other}` };
}
