import { isWorthLessThanOne } from "../../../ledger/fees.ts";
import { depositFailedPayload } from "../../../webhooks/payloads/deposit_failed.ts";
import { decided, eventRow, post, timeOf, type Verdict } from "../decision.ts";
import type { VanishedFact } from "../facts.ts";
import { type MerchantView, transferKey } from "../state.ts";
import { storedIdentifier } from "./credit_transfer.ts";

/**
 * Gives up a deposit whose transfer is proven never to become final: pending is taken back and the
 * merchant told. A deposit that was credited, or failed already, is left alone.
 */
export function failDeposit(view: MerchantView, fact: VanishedFact): Verdict<null> {
  const { state } = view;
  const at = timeOf(state, fact.at);
  const { network, txid, logIndex } = fact.key;
  const deposit = view.records.deposits.get(transferKey(network, txid, logIndex));
  if (deposit === undefined || deposit.status !== "PENDING") {
    return decided(at, null, { consumed: [fact.key] });
  }
  const line = view.records.transactions.get(deposit.transactionSeq);
  if (line === undefined) {
    throw new Error(`Cannot fail a deposit as its statement line is missing: ${deposit.id}`);
  }
  const { id, currency, amount } = deposit;
  const exempt = isWorthLessThanOne(amount, deposit.usdRate ?? "1");
  const address = view.records.addresses.get(`${network}/${deposit.address}`);
  return decided(at, null, {
    postings: post({
      paymentId: id,
      leg: "vanished",
      from: "pending",
      to: "world",
      currency,
      network,
      amount,
    }),
    deposits: [{ ...deposit, status: "FAILED", reason: fact.reason, updatedAt: at }],
    transactions: [{ ...line, status: "FAILED" }],
    events: exempt ? [] : [eventRow(state, {
      id: fact.eventId,
      paymentId: id,
      type: "deposit.failed",
      at,
      payload: depositFailedPayload({
        eventId: fact.eventId,
        depositId: id,
        amount,
        currency,
        identifier: storedIdentifier(address),
        reason: fact.reason,
        txHash: txid,
        address: deposit.address,
      }),
    })],
    consumed: [fact.key],
  });
}
