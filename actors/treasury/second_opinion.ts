/**
 * Asks a second, independent node whether it too knows nothing of an expired transaction. Its word
 * alone never counts: it is asked after the own scan has passed the expiry, and has to have the very
 * block that the own scan has reached, so that it is neither behind nor on another chain.
 *
 * @module
 */

import type { Amount } from "../../ledger/money/amount.ts";
import type { Testimony } from "../../ledger/treasury/expire_attempts.ts";
import type { ExpiredAttempt } from "../../ledger/treasury/expired_attempts.ts";
import type { Cursor } from "../../ledger/watcher/cursor.ts";
import { answerOf, type SecondNode, solidBlockOf } from "../watcher/second_node.ts";

/** Which payouts need a second opinion, and who gives it. */
export interface SecondOpinionPolicy {
  /** Payouts of more than this, in any token. */
  readonly above: Amount;
  readonly nodes: readonly SecondNode[];
}

/** The second nodes' word on one transaction. */
export type Opinion =
  | { readonly kind: "agreed"; readonly testimony: Testimony }
  | {
    readonly kind: "waits";
    readonly reason: string;
    /** They contradict the own scan: an operator has to look. */
    readonly alarming: boolean;
  };

/** Position of a second node, seen from a block of the own scan. */
type Standing =
  | { readonly kind: "there"; readonly node: SecondNode; readonly previousTick: number }
  | { readonly kind: "behind" | "elsewhere" | "silent"; readonly node: SecondNode };

/** Transactions that are asked about at the same time. */
const AT_ONCE = 8;

/** The second opinions of one network. */
export class SecondOpinion {
  readonly #nodes: readonly SecondNode[];
  /** Unix milliseconds. */
  readonly #now: () => number;
  /**
   * The block of our scan that the second nodes have to have. Kept until one of them has: a node
   * that is always a little behind would never reach a mark that moves.
   */
  #mark: Cursor | null = null;

  constructor(nodes: readonly SecondNode[], now: () => number) {
    this.#nodes = nodes;
    this.#now = now;
  }

  /**
   * Asks about expired transactions.
   *
   * @param solid the solid cursor, past the expiry of all of them
   * @returns an opinion for each, by transaction id
   */
  async ask(
    expired: readonly ExpiredAttempt[],
    solid: Cursor,
  ): Promise<ReadonlyMap<string, Opinion>> {
    const mark = this.#mark ??= solid;
    const standings = await Promise.all(this.#nodes.map((node) => standingOf(node, mark)));
    if (standings.some(({ kind }) => kind === "there" || kind === "elsewhere")) this.#mark = null;
    const opinions = new Map<string, Opinion>();
    const silent = new Set<SecondNode>();
    const left = [...expired];
    const work = async () => {
      for (let one = left.shift(); one !== undefined; one = left.shift()) {
        opinions.set(
          one.txid,
          one.diesAfter < mark.previousTick
            ? await this.#about(one, standings, silent, mark)
            : waits("the second node is asked with the next block"),
        );
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return opinions;
  }

  async #about(
    { txid, diesAfter }: Pick<ExpiredAttempt, "txid" | "diesAfter">,
    standings: readonly Standing[],
    silent: Set<SecondNode>,
    mark: Cursor,
  ): Promise<Opinion> {
    const elsewhere = standings.find(({ kind }) => kind === "elsewhere");
    if (elsewhere !== undefined) {
      return alarm(`${elsewhere.node.name} has another block ${mark.height} than our scan`);
    }
    let testimony: Testimony | null = null;
    let doubt = "";
    for (const standing of standings) {
      const { node } = standing;
      if (standing.kind !== "there" || diesAfter >= standing.previousTick) {
        doubt ||= `${node.name} ${standing.kind === "silent" ? "does not answer" : "is behind"}`;
        continue;
      }
      const found = silent.has(node) ? null : await knows(node, txid);
      if (found === null) {
        // one time-out is enough: the others of this round are asked about next time
        silent.add(node);
        doubt ||= `${node.name} does not answer`;
      } else if (found !== "no") {
        return alarm(`${node.name} knows the transaction (${found}), which our scan has not met`);
      } else {
        testimony ??= {
          node: node.name,
          height: mark.height,
          hash: mark.hash,
          previousTick: standing.previousTick,
          askedAt: this.#now(),
        };
      }
    }
    return testimony === null ? waits(doubt) : { kind: "agreed", testimony };
  }
}

function waits(reason: string): Opinion {
  return { kind: "waits", reason, alarming: false };
}

function alarm(reason: string): Opinion {
  return { kind: "waits", reason, alarming: true };
}

/** Position of a node, by our block among its own solid ones and the tick of the one before it. */
async function standingOf(node: SecondNode, mark: Cursor): Promise<Standing> {
  const own = await solidBlockOf(node.chain, mark.height);
  if (own === null) return { kind: "silent", node };
  if (own.kind !== "block") return { kind: "behind", node };
  const { block } = own;
  if (block.hash !== mark.hash) return { kind: "elsewhere", node };
  const before = await solidBlockOf(node.chain, block.parentHeight);
  if (before === null) return { kind: "silent", node };
  if (before.kind !== "block") return { kind: "behind", node };
  if (before.block.hash !== block.parentHash) return { kind: "elsewhere", node };
  return { kind: "there", node, previousTick: before.block.tick };
}

/** State of a transaction in a node's solid blocks; `null`: it does not answer. */
async function knows(node: SecondNode, txid: string): Promise<string | null> {
  const found = await answerOf((signal) => node.chain.transaction(txid, "solid", signal));
  if (found === null) return null;
  if (found.kind === "missing") return "no";
  return found.kind === "found" ? `block ${found.transaction.height}` : found.reason;
}
