import { ZERO } from "../../../ledger/money/amount.ts";
import { type DepositRow, NO_HANDS, type TransactionRow } from "../../../ledger/rows.ts";
import { decided, type Decision, post, timeOf, type Verdict } from "../decision.ts";
import type { TransferFact } from "../facts.ts";
import { type MerchantView, transferKey } from "../state.ts";
import { claimOf, heldByClaim } from "./claim.ts";

/** A deposit and its statement line as they begin. */
export interface OpenedDeposit {
  readonly deposit: DepositRow;
  readonly line: TransactionRow;
}

/**
 * The records of a transfer that is seen for the first time: pending, without effect on available.
 * What comes in on the merchant's own top-up address pays no percentage.
 */
export function openDeposit(view: MerchantView, fact: TransferFact): OpenedDeposit {
  const { state } = view;
  const at = timeOf(state, fact.at);
  const { merchantId, network, txid, logIndex } = fact.key;
  const address = view.records.addresses.get(`${network}/${fact.to}`);
  const isTopUp = address?.kind === "top_up";
  const referenceId = address?.referenceId ?? null;
  const transactionSeq = state.transactionSeq + 1;
  const { currency, amount } = fact;
  return {
    deposit: {
      id: fact.depositId,
      merchantId,
      seq: state.depositSeq + 1,
      transactionSeq,
      currency,
      network,
      amount,
      status: "PENDING",
      reason: null,
      source: isTopUp ? "top_up" : "onchain",
      referenceId,
      description: null,
      commission: ZERO,
      commissionRate: isTopUp ? "0" : state.merchant.depositCommissionRate,
      fixedFee: ZERO,
      usdRate: fact.usdRate,
      margin: ZERO,
      marginTo: null,
      addressId: fact.addressId,
      address: fact.to,
      txid,
      logIndex,
      sender: fact.from,
      height: fact.height,
      expiresAt: fact.expiresAt,
      metadata: { txHash: txid },
      createdAt: at,
      updatedAt: at,
      clearedAt: null,
      ...NO_HANDS,
      endorsedBy: null,
      endorsedAdmin: null,
    },
    line: {
      merchantId,
      seq: transactionSeq,
      id: fact.transactionId,
      paymentId: fact.depositId,
      type: "DEPOSIT",
      status: "PENDING",
      currency,
      network,
      effect: ZERO,
      fee: ZERO,
      txid,
      height: fact.height,
      fromAddress: fact.from,
      toAddress: fact.to,
      referenceId,
      description: null,
      category: isTopUp ? "Top-up" : null,
      createdAt: at,
    },
  };
}

/** The posting that shows a transfer on the pending balance. */
export function pendingPosting(deposit: DepositRow): Decision["postings"] {
  return post({
    paymentId: deposit.id,
    leg: "seen",
    from: "world",
    to: "pending",
    currency: deposit.currency,
    network: deposit.network,
    amount: deposit.amount,
  });
}

/** Books a transfer that is in a block, but not yet in a solid one. Seeing it again changes nothing. */
export function seeTransfer(view: MerchantView, fact: TransferFact): Verdict<null> {
  const at = timeOf(view.state, fact.at);
  const { network, txid, logIndex } = fact.key;
  const claim = claimOf(view.records, fact.key);
  if (claim?.status === "PENDING") return heldByClaim(claim);
  if (view.records.deposits.has(transferKey(network, txid, logIndex)) || claim !== undefined) {
    return decided(at, null, { consumed: [fact.key] });
  }
  const { deposit, line } = openDeposit(view, fact);
  return decided(at, null, {
    postings: pendingPosting(deposit),
    deposits: [deposit],
    transactions: [line],
    consumed: [fact.key],
  });
}
