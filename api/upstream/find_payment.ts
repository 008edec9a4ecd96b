/**
 * True where a transaction that an operator names really paid a withdrawal.
 *
 * @module
 */

import { type ChainInDoubt, orInDoubt, readBelieved } from "../../actors/watcher/chain_in_doubt.ts";
import { askForRequest } from "../../chains/call_lane.ts";
import type { Chain, FoundTransaction } from "../../chains/chain.ts";
import { transfersBetween } from "../../chains/transfers_between.ts";
import { findAttempt } from "../../ledger/payouts.ts";
import type { WithdrawalRow } from "../../ledger/payment_rows.ts";
import { whyStopped } from "../http/checks.ts";
import type { ApiContext } from "../http/context.ts";

/** Reasons for which a transaction is not the payment of a withdrawal. */
export type PaymentFault =
  | "no_network"
  | "no_transaction_id"
  | "not_final"
  | "failed"
  | "other_transfer"
  | "too_old"
  | "other_payout"
  | "deposit_here";

export type Payment =
  | {
    readonly kind: "payment";
    readonly payment: { readonly txid: string; readonly height: number; readonly own: boolean };
  }
  | { readonly kind: "fault"; readonly fault: PaymentFault }
  | ChainInDoubt;

/** The most that a block's time may be before the service's, milliseconds: it is that of the block's slot. */
const CLOCK_MS = 60_000;
const NODE_MS = 8_000;

function fault(fault: PaymentFault): Payment {
  return { kind: "fault", fault };
}

/**
 * Looks a transaction up among the solid blocks that our own scan has passed, at a node that has the
 * newest of them, and compares it with a withdrawal.
 *
 * @throws {ChainUnavailable} when the node does not answer
 */
export async function findPayment(
  withdrawal: WithdrawalRow,
  txHash: string,
  context: Pick<ApiContext, "chains" | "sql" | "scanOf" | "addressOwners">,
): Promise<Payment> {
  const { network } = withdrawal;
  const chain = context.chains.get(network);
  if (chain === undefined) return fault("no_network");
  const txid = chain.transactionId(txHash);
  if (txid === null) return fault("no_transaction_id");
  const believed = await readBelieved(context.sql, network, whyStopped(context, network));
  if (believed.kind === "in_doubt") return believed;
  const { cursor } = believed;
  const signal = AbortSignal.timeout(NODE_MS);
  const found = await orInDoubt(
    askForRequest(() => chain.transaction(txid, "solid", signal, cursor)),
  );
  if (found.kind === "in_doubt") return found;
  if (found.kind !== "found" || found.transaction.height > cursor.height) {
    return fault("not_final");
  }
  const { transaction } = found;
  if (!transaction.success) return fault("failed");
  if (!pays(chain, transaction, withdrawal)) return fault("other_transfer");
  const attempt = await findAttempt(context.sql, network, transaction.txid);
  if (attempt !== null && attempt.outgoingId !== withdrawal.outgoingId) {
    return fault("other_payout");
  }
  // a customer's transfer to a deposit address is the deposit of its merchant and pays nothing else
  if (attempt === null && await context.addressOwners(withdrawal.destination) !== undefined) {
    return fault("deposit_here");
  }
  // an earlier payment of the same amount to the same address is another payment
  if (attempt === null && transaction.time < withdrawal.createdAt - CLOCK_MS) {
    return fault("too_old");
  }
  const { txid: canonical, height } = transaction;
  // one that was declared dead no longer stands for its payout, which may be sent anew: it takes the
  // payout's place as any other wallet's transfer does, and only while nothing else may still pay
  const own = attempt !== null && !attempt.isExpired;
  return { kind: "payment", payment: { txid: canonical, height, own } };
}

function pays(
  chain: Pick<Chain, "eventAddress">,
  transaction: FoundTransaction,
  withdrawal: WithdrawalRow,
): boolean {
  const { currency, destination: to } = withdrawal;
  return transfersBetween(chain, transaction.transfers, { currency, to })
    .some(({ amount }) => amount === withdrawal.amount);
}
