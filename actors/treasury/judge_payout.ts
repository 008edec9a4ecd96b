/**
 * Compares what an operator says of a payout that succeeded without the intended transfer with what
 * the chain shows: nothing is settled on a word alone, and the chain is the one that our own scan has
 * read.
 *
 * @module
 */

import type { Chain, Transfer } from "../../chains/chain.ts";
import { transfersBetween } from "../../chains/transfers_between.ts";
import { findAddressOwners } from "../../ledger/deposit_addresses.ts";
import { add, type Amount, formatAmount, ZERO } from "../../ledger/money/amount.ts";
import { findAttempt } from "../../ledger/payouts.ts";
import type { UnexpectedPayout } from "../../ledger/treasury/unexpected_payouts.ts";
import type { PayoutVerdict, SolidTransaction } from "../merchant/messages.ts";
import {
  type BesideScan,
  type ChainInDoubt,
  orInDoubt,
  readMet,
} from "../watcher/chain_in_doubt.ts";

/** Milliseconds by which a block's time may be before our clock's: it is that of the block's slot. */
const CLOCK_MS = 60_000;

/** An operator's claim about a payout. */
export interface Claim {
  readonly verdict: PayoutVerdict;
  /** Another transaction that has brought what ours lacked, as it was named; null: none. */
  readonly txid: string | null;
}

/** The chain's answer to the claim. */
export type Judgement =
  | {
    readonly kind: "so";
    /** Sum that reached the destination, by all transactions that were looked at. */
    readonly arrived: Amount;
    readonly paidBy: SolidTransaction | null;
  }
  /** No node has the whole receipt at the moment. */
  | { readonly kind: "unread" }
  /** The chain says otherwise. */
  | { readonly kind: "not_so"; readonly why: string }
  /** The nodes' answers cannot be believed now. */
  | ChainInDoubt;

/**
 * Judges a verdict. `paid` is so where the full amount has reached the destination, by the payout's
 * own transaction or together with another one that is named; `not_paid` where nothing has, by its
 * own. What has arrived in part is neither, until the rest is sent; what is sent to a deposit
 * address is a deposit and no rest.
 *
 * @param boundMs how long the chain is asked
 * @throws {ChainUnavailable} when the chain cannot be read
 */
export async function judgePayout(
  deps: BesideScan<Pick<Chain, "hotWallet" | "eventAddress" | "transaction" | "transactionId">>,
  payout: UnexpectedPayout,
  { verdict, txid }: Claim,
  boundMs: number,
): Promise<Judgement> {
  const { sql, chain } = deps;
  const signal = AbortSignal.timeout(boundMs);
  const met = await readMet(deps, payout, signal);
  if (met.kind !== "met") return met;
  const { cursor, transaction } = met;
  const ends = { currency: payout.currency, to: payout.destination };
  const own = sumOf(
    transfersBetween(chain, transaction.transfers, { ...ends, from: chain.hotWallet }),
  );
  const shown = [own, payout.amount].map(formatAmount).join(" of ") +
    " reached the destination by it";
  if (verdict === "not_paid") {
    if (txid !== null) return notSo("What was not paid has no other transaction.");
    return own === ZERO ? { kind: "so", arrived: ZERO, paidBy: null } : notSo(`${shown}.`);
  }
  if (txid === null) {
    if (own >= payout.amount) return { kind: "so", arrived: own, paidBy: null };
    return notSo(`${shown}; name the transaction that has brought the rest.`);
  }
  const canonical = chain.transactionId(txid);
  if (canonical === null) return notSo(`${txid} is no transaction id.`);
  if (await findAttempt(sql, payout.network, canonical) !== null) {
    return notSo(`${canonical} is a transaction of the service itself.`);
  }
  // a customer's transfer to a deposit address is the deposit of its merchant and pays nothing else
  const owners = await findAddressOwners(sql, [payout.destination]);
  if (owners.has(payout.destination)) {
    const { destination } = payout;
    return notSo(
      `${destination} is a deposit address; a transfer of another wallet is its deposit.`,
    );
  }
  const other = await orInDoubt(chain.transaction(canonical, "solid", signal, cursor));
  if (other.kind === "in_doubt") return other;
  if (other.kind !== "found" || other.transaction.height > cursor.height) {
    return notSo(`${canonical} is not in a solid block that was read.`);
  }
  const { success, time, height } = other.transaction;
  if (!success) return notSo(`${canonical} has failed.`);
  // an earlier payment to the same address is another payment
  if (time < payout.createdAt - CLOCK_MS) {
    return notSo(`${canonical} is older than the withdrawal.`);
  }
  const rest = sumOf(transfersBetween(chain, other.transaction.transfers, ends));
  const arrived = add(own, rest);
  if (rest > ZERO && arrived >= payout.amount) {
    return { kind: "so", arrived, paidBy: { txid: canonical, height } };
  }
  return notSo(`${shown}, ${formatAmount(rest)} by ${canonical}.`);
}

function notSo(why: string): Judgement {
  return { kind: "not_so", why };
}

function sumOf(transfers: readonly Transfer[]): Amount {
  return transfers.reduce((sum, { amount }) => add(sum, amount), ZERO);
}
