/**
 * From a transaction that is in a block to the ends of the intents that it carries.
 *
 * @module
 */

import type { Chain, IncludedTransaction, Transfer } from "../../chains/chain.ts";
import { transfersBetween } from "../../chains/transfers_between.ts";
import { shareOf } from "../../ledger/money/shares.ts";
import { type EndDoubt, SEVERAL_BLOCKS } from "../../ledger/watcher/end_proofs.ts";
import type { OutcomeFinding, OwnTransaction } from "../../ledger/watcher/record_outcomes.ts";

/** A transaction as its block shows it. */
export interface Shown {
  readonly transaction: IncludedTransaction;
  /** Its own ones. */
  readonly transfers: readonly Transfer[];
  readonly height: number;
  /** The block's hash. */
  readonly hash: string;
}

const UNEXPECTED = "the transaction succeeded without the transfer that was intended";

/**
 * The ends of all intents of one transaction. Each transfer of the block ends one intent at most: two that
 * are alike are both paid only where there are two transfers.
 *
 * @param own all intents that it carries, those that have ended included
 */
export function outcomesOf(
  chain: Pick<Chain, "hotWallet" | "deriveAddress" | "eventAddress" | "feeOf">,
  own: readonly OwnTransaction[],
  { transaction, transfers, height, hash }: Shown,
): readonly OutcomeFinding[] {
  const left = new Set(transfers);
  const { success, failure } = transaction;
  const bytes = own[0]?.bytes ?? null;
  const paid = bytes === null
    ? transaction.fee
    : chain.feeOf?.(transaction, bytes) ?? transaction.fee;
  return own.toSorted((a, b) => a.place - b.place).map((one) => {
    const fee = shareOf(paid, one.place, one.intents);
    const found = { own: one, height, hash, fee };
    // whatever it did, its nonce is used, and nothing of the transfer is in it
    if (one.purpose === "cancel") return { ...found, result: "cancelled", reason: failure };
    if (!success) return { ...found, result: "failed", reason: failure };
    // the coin and what is delegated leave no log: a success of what was signed is what was intended
    const transfer = one.currency === "native" ? null : transferOf(chain, one, [...left]);
    if (transfer === undefined) return { ...found, result: "unexpected", reason: UNEXPECTED };
    if (transfer !== null) left.delete(transfer);
    return { ...found, result: "paid", reason: null };
  });
}

/**
 * Finds ends that the blocks tell more than once, of which one at most is true. Each block is read again by itself before one of
 * them counts.
 */
export function endsToldTwice(
  findings: readonly OutcomeFinding[],
): ReadonlyMap<OutcomeFinding, EndDoubt> {
  const doubts = new Map<OutcomeFinding, EndDoubt>();
  for (const ends of Map.groupBy(findings, ({ own }) => own).values()) {
    if (ends.length < 2) continue;
    for (const end of ends) doubts.set(end, SEVERAL_BLOCKS);
  }
  return doubts;
}

/** The very transfer that was intended; a success alone proves nothing. */
function transferOf(
  chain: Pick<Chain, "hotWallet" | "deriveAddress" | "eventAddress">,
  { currency, wallet, destination: to, amount }: OwnTransaction,
  transfers: readonly Transfer[],
): Transfer | undefined {
  if (currency === "native") return undefined;
  const from = wallet === "hot" ? chain.hotWallet : chain.deriveAddress(Number(wallet));
  return transfersBetween(chain, transfers, { currency, from, to })
    .find((transfer) => transfer.amount === amount);
}
