/**
 * Asks a second, independent node about large final transfers before they are credited. It has to
 * have the very block in which our scan met the transfer among its solid ones, and the very transfer
 * among the receipts of that block. Until then the deposit stays pending: silence and lag are waited
 * out, and what contradicts our scan is an alarm. Nothing else waits for it.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { Sql } from "postgres";
import type { BlockAnswer, Chain } from "../../chains/chain.ts";
import type { Amount } from "../../ledger/money/amount.ts";
import {
  readDepositProofRule,
  renewDepositProofRule,
} from "../../ledger/watcher/deposit_proof_rule.ts";
import {
  type AwaitedProof,
  type AwaitedProofFigures,
  postponeProofs,
  proveTransfer,
  readAwaitedProofFigures,
  readAwaitedProofs,
  type Unanswered,
} from "../../ledger/watcher/deposit_proofs.ts";
import { type SecondNode, solidBlockOf } from "./second_node.ts";

/** Transfers that are asked about in one poll. */
const ASKED_AT_ONCE = 100;
/** Blocks that are asked for at the same time. */
const BLOCKS_AT_ONCE = 4;
/** Time after which no more questions are begun in one poll. */
const POLL_MS = 20_000;

/** Interval at which a node records its bound, well within the time after which it is taken for gone. */
const RECORD_MS = 10_000;

/** Reason for which a transfer waits that was proven and could not be written. */
const UNWRITTEN = { reason: "it is proven, and its rows cannot be written now", isDisputed: false };

/** Dependencies of proofs. */
export interface ProverDeps {
  readonly sql: Sql;
  readonly chain: Pick<Chain, "network" | "block" | "addressOf">;
  /** Second nodes; empty: what is above the bound waits until there is one. */
  readonly nodes: readonly Pick<SecondNode, "name" | "chain">[];
  /** The bound as this node is configured; null: it has none; absent: it records none. */
  readonly above?: Amount | null | undefined;
  /** Unix milliseconds, kept with the evidence. */
  readonly now: () => number;
  /** Called with a merchant whose inbox has rows. */
  readonly wake: (merchantId: string) => void;
}

/** A second node's word on a transfer. */
export type ProofWord =
  | { readonly kind: "proven"; readonly node: string; readonly hash: string }
  | { readonly kind: "waits" | "disputed"; readonly reason: string };

/**
 * Judges a second node's answer to the question for a transfer's block.
 *
 * @param node its name
 * @param answer null: it did not answer
 * @param hash of the block in which our scan met the transfer
 */
export function judgeProof(
  node: string,
  answer: BlockAnswer | null,
  transfer: Pick<
    AwaitedProof,
    "txid" | "logIndex" | "currency" | "amount" | "from" | "to" | "height"
  >,
  hash: string,
  addressOf: Chain["addressOf"],
): ProofWord {
  if (answer === null) return { kind: "waits", reason: `${node} does not answer` };
  const { height } = transfer;
  if (answer.kind === "missing") return { kind: "waits", reason: `${node} is behind` };
  if (answer.kind === "incomplete") {
    return { kind: "waits", reason: `${node} has block ${height} without all of its receipts` };
  }
  const { block } = answer;
  if (block.height !== height || block.hash !== hash) {
    return { kind: "disputed", reason: `${node} has another block ${height} than our scan` };
  }
  const has = block.transfers.some((one) =>
    one.txid === transfer.txid && one.logIndex === transfer.logIndex &&
    one.currency === transfer.currency && one.amount === transfer.amount &&
    addressOf(one.eventFrom) === transfer.from && addressOf(one.eventTo) === transfer.to
  );
  if (!has) {
    return { kind: "disputed", reason: `${node} has block ${height} without this transfer` };
  }
  return { kind: "proven", node, hash: block.hash };
}

function unanswered(
  transfers: readonly AwaitedProof[],
  reason: string,
): readonly Unanswered[] {
  return transfers.map((transfer) => ({ transfer, reason, isDisputed: false }));
}

/** The proofs of one network's large deposits. */
export class DepositProver {
  readonly #deps: ProverDeps;
  /** Last time that this node recorded its bound, by the monotonic clock. */
  #recordedAt = -Infinity;
  #figures: AwaitedProofFigures = { waiting: 0, disputed: 0, oldestAt: null, reason: null };

  constructor(deps: ProverDeps) {
    this.#deps = deps;
  }

  /** Transfers that wait, as of the last poll. */
  get figures(): AwaitedProofFigures {
    return this.#figures;
  }

  /** Asks about the transfers whose turn it is. */
  async poll(): Promise<void> {
    const { sql, chain: { network }, above } = this.#deps;
    if (above !== undefined && performance.now() - this.#recordedAt > RECORD_MS) {
      await renewDepositProofRule(sql, network, above);
      this.#recordedAt = performance.now();
    }
    try {
      const transfers = await readAwaitedProofs(sql, network, ASKED_AT_ONCE);
      if (transfers.length > 0) {
        await this.#ask(transfers, await readDepositProofRule(sql, network));
      }
    } finally {
      this.#figures = await readAwaitedProofFigures(sql, network);
    }
  }

  /** Lets go what the bound as it is now does not cover. @returns `false`: it could not be written now */
  async #release(transfer: AwaitedProof): Promise<boolean> {
    logEvent("deposit.proof_dropped", {
      network: this.#deps.chain.network,
      txid: transfer.txid,
      to: transfer.to,
    });
    return await this.#prove(transfer, { waived: "the configured bound was changed" });
  }

  /** @param above the bound as it is now; null: there is none */
  async #ask(transfers: readonly AwaitedProof[], above: Amount | null): Promise<void> {
    // what a second node has once contradicted no change of the bound lets go
    const isCovered = ({ amount, isContested }: AwaitedProof) =>
      isContested || above !== null && amount > above;
    const blocks = Map.groupBy(transfers, ({ height }) => height);
    const left = [...blocks];
    const silent = new Set<string>();
    const begun = performance.now();
    const work = async () => {
      for (let one = left.shift(); one !== undefined; one = left.shift()) {
        // what is left keeps its turn, and is asked about first in the next poll
        if (performance.now() - begun > POLL_MS) return;
        const [height, ofBlock] = one;
        const waiting: Unanswered[] = [];
        for (const answer of await this.#askApart(height, ofBlock, silent)) {
          if (answer.isDisputed || isCovered(answer.transfer)) waiting.push(answer);
          else if (!await this.#release(answer.transfer)) waiting.push({ ...answer, ...UNWRITTEN });
        }
        for (const answer of waiting) this.#logUnanswered(answer);
        await this.#postpone(waiting);
      }
    };
    await Promise.all(Array.from({ length: BLOCKS_AT_ONCE }, work));
  }

  /** Puts transfers back; where that breaks, they alone are asked about again at once. */
  async #postpone(waiting: readonly Unanswered[]): Promise<void> {
    const { sql, chain: { network } } = this.#deps;
    try {
      await postponeProofs(sql, network, waiting);
    } catch (error) {
      logEvent("deposit.proof_not_postponed", { network, error });
    }
  }

  /** Asks for one block; what breaks there keeps no other block from being asked for. */
  async #askApart(
    height: number,
    transfers: readonly AwaitedProof[],
    silent: Set<string>,
  ): Promise<readonly Unanswered[]> {
    try {
      return await this.#askFor(height, transfers, silent);
    } catch (error) {
      const { network } = this.#deps.chain;
      logEvent("deposit.proof_failed", { network, height, error });
      return unanswered(transfers, `the question for block ${height} broke, see the log`);
    }
  }

  /** Asks all second nodes for one block. @returns what is not proven by it */
  async #askFor(
    height: number,
    transfers: readonly AwaitedProof[],
    silent: Set<string>,
  ): Promise<readonly Unanswered[]> {
    const { chain, nodes, now } = this.#deps;
    if (nodes.length === 0) return unanswered(transfers, "no second node is configured");
    const answers = await Promise.all(nodes.map(async (node) => {
      // one time-out is enough: the others of this poll are asked about next time
      const answer = silent.has(node.name) ? null : await solidBlockOf(node.chain, height);
      if (answer === null) silent.add(node.name);
      return { name: node.name, answer };
    }));
    let met: string | null = null;
    if (transfers.some(({ hash }) => (hash ?? null) === null)) {
      const own = await solidBlockOf(chain, height);
      if (own?.kind === "block") met = own.block.hash;
    }
    const waiting: Unanswered[] = [];
    for (const transfer of transfers) {
      const hash = transfer.hash ?? met;
      if (hash === null) {
        waiting.push(...unanswered([transfer], `block ${height} cannot be read again`));
        continue;
      }
      const words = answers.map(({ name, answer }) =>
        judgeProof(name, answer, transfer, hash, chain.addressOf)
      );
      const proof = words.find((word) => word.kind === "proven");
      const word = words.find(({ kind }) => kind === "disputed") ?? proof ?? words[0];
      if (word === undefined) continue;
      if (word.kind !== "proven") {
        waiting.push({ transfer, reason: word.reason, isDisputed: word.kind === "disputed" });
        continue;
      }
      const evidence = { node: word.node, height, hash, askedAt: now() };
      if (!await this.#prove(transfer, evidence)) waiting.push({ transfer, ...UNWRITTEN });
    }
    return waiting;
  }

  /** Gives a transfer to its merchant. @returns `false`: it could not be written now */
  async #prove(
    transfer: AwaitedProof,
    evidence: Parameters<typeof proveTransfer>[3],
  ): Promise<boolean> {
    const { sql, chain: { network }, wake } = this.#deps;
    try {
      await proveTransfer(sql, network, transfer, evidence);
    } catch (error) {
      logEvent("deposit.proof_not_credited", {
        network,
        txid: transfer.txid,
        error,
      });
      return false;
    }
    wake(transfer.merchantId);
    return true;
  }

  /** Says why a transfer is not credited, once for each reason. */
  #logUnanswered({ transfer, reason, isDisputed }: Unanswered): void {
    if (transfer.reason === reason) return;
    const { network } = this.#deps.chain;
    const { txid, to, merchantId } = transfer;
    logEvent(isDisputed ? "deposit.disputed" : "deposit.unproven", {
      network,
      txid,
      to,
      merchantId,
      reason,
    });
  }
}
