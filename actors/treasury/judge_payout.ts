/**
 * Compares what an operator says of a payout that succeeded without the intended transfer with what
 * the chain shows: nothing is settled on a word alone, and the chain is the one that our own scan has
 * read.
 *
 * @module
 */

import type { Chain, FoundTransaction } from "../../chains/chain.ts";
import { findAttempt } from "../../ledger/payouts.ts";
import { add, type Amount, formatAmount, ZERO } from "../../ledger/money/amount.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { findAddressOwners } from "../../ledger/deposit_addresses.ts";
import type { UnexpectedPayout } from "../../ledger/treasury/unexpected_payouts.ts";
import type { Cursor } from "../../ledger/watcher/cursor.ts";
import type { PayoutVerdict } from "../merchant/messages.ts";
import { type ChainInDoubt, orInDoubt, readBelieved } from "../watcher/chain_in_doubt.ts";

/** Milliseconds by which a block's time may be before our clock's: it is that of the block's slot. */
const CLOCK_MS = 60_000;

/** Dependencies of the judgement. */
export interface JudgeDeps {
  readonly sql: Sql;
  readonly chain: Pick<Chain, "hotWallet" | "addressOf" | "transaction" | "transactionId">;
  /** Why the scan of the network does not go on; null while it does. */
  readonly stopped: string | null;
}

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
    readonly paidBy: { readonly txid: string; readonly height: number } | null;
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
 * own. What has arrived in part is neither, until somebody sends the rest; what is sent to a deposit
 * address is a deposit and no rest.
 *
 * @param boundMs how long the chain is asked
 * @throws {ChainUnavailable} when the chain cannot be read
 */
export async function judgePayout(
  { sql, chain, stopped }: JudgeDeps,
  payout: UnexpectedPayout,
  { verdict, txid }: Claim,
  boundMs: number,
): Promise<Judgement> {
  const believed = await readBelieved(sql, payout.network, stopped);
  if (believed.kind === "in_doubt") return believed;
  const { cursor } = believed;
  const signal = AbortSignal.timeout(boundMs);
  const found = await orInDoubt(chain.transaction(payout.txid, "solid", signal, cursor));
  if (found.kind === "in_doubt") return found;
  if (found.kind !== "found") return { kind: "unread" };
  const doubt = doubtOf(found.transaction, payout, cursor);
  if (doubt !== null) return { kind: "in_doubt", reason: doubt };
  const own = arrivedBy(chain, found.transaction, payout);
  const shown = `${formatAmount(own)} of ${
    formatAmount(payout.amount)
  } reached the destination by it`;
  if (verdict === "not_paid") {
    if (txid !== null) {
      return { kind: "not_so", why: "What was not paid has no other transaction." };
    }
    return own === ZERO
      ? { kind: "so", arrived: ZERO, paidBy: null }
      : { kind: "not_so", why: `${shown}.` };
  }
  if (txid === null) {
    if (own >= payout.amount) return { kind: "so", arrived: own, paidBy: null };
    return { kind: "not_so", why: `${shown}; name the transaction that has brought the rest.` };
  }
  const canonical = chain.transactionId(txid);
  if (canonical === null) return { kind: "not_so", why: `${txid} is no transaction id.` };
  if (await findAttempt(sql, payout.network, canonical) !== null) {
    return { kind: "not_so", why: `${canonical} is a transaction of the house's own.` };
  }
  // a customer's transfer to a deposit address is the deposit of its merchant and pays nothing else
  const owners = await findAddressOwners(sql, [payout.destination]);
  if (owners.has(payout.destination)) {
    return {
      kind: "not_so",
      why:
        `${payout.destination} is a deposit address; a transfer of another wallet is its deposit.`,
    };
  }
  const other = await orInDoubt(chain.transaction(canonical, "solid", signal, cursor));
  if (other.kind === "in_doubt") return other;
  if (other.kind !== "found" || other.transaction.height > cursor.height) {
    return { kind: "not_so", why: `${canonical} is not in a solid block that was read.` };
  }
  const { success, time, height } = other.transaction;
  if (!success) return { kind: "not_so", why: `${canonical} has failed.` };
  // an earlier payment to the same address is another payment
  if (time < payout.createdAt - CLOCK_MS) {
    return { kind: "not_so", why: `${canonical} is older than the withdrawal.` };
  }
  const rest = arrivedBy({ ...chain, hotWallet: null }, other.transaction, payout);
  const arrived = add(own, rest);
  if (rest > ZERO && arrived >= payout.amount) {
    return { kind: "so", arrived, paidBy: { txid: canonical, height } };
  }
  return { kind: "not_so", why: `${shown}, ${formatAmount(rest)} by ${canonical}.` };
}

/** Sum that a transaction has brought to the destination of a payout; `hotWallet` null: from whomever. */
function arrivedBy(
  { addressOf, hotWallet }: Pick<Chain, "addressOf"> & { readonly hotWallet: string | null },
  { transfers }: FoundTransaction,
  { currency, destination }: UnexpectedPayout,
): Amount {
  return transfers.filter((transfer) =>
    transfer.currency === currency && addressOf(transfer.eventTo) === destination &&
    (hotWallet === null || addressOf(transfer.eventFrom) === hotWallet)
  ).reduce((sum, { amount }) => add(sum, amount), ZERO);
}

/** Why a transaction is not the one that our own scan has read and passed; null: it is. */
function doubtOf(
  { txid, height, success }: FoundTransaction,
  payout: UnexpectedPayout,
  cursor: Cursor,
): string | null {
  if (height !== payout.height || !success) {
    const end = success ? "" : ", failed";
    return `${txid} is in block ${height}${end}; the scan has read its success in ${payout.height}`;
  }
  if (height <= cursor.height) return null;
  return `${txid} is in block ${height}, the scan has passed ${cursor.height}`;
}
