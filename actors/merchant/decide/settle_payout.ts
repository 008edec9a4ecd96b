import { withdrawalConfirmedPayload } from "../../../webhooks/payloads/withdrawal_confirmed.ts";
import { decided, eventRow, post, timeOf, type Verdict } from "../decision.ts";
import type { OutcomeFact } from "../facts.ts";
import type { MerchantView } from "../state.ts";
import { refund } from "./refund.ts";

/**
 * Settles a withdrawal from what solid blocks say of its payout: paid and CONFIRMED, or refunded
 * and FAILED. Hearing it again changes nothing.
 */
export function settlePayout(view: MerchantView, fact: OutcomeFact): Verdict<null> {
  const at = timeOf(view.state, fact.at);
  const known = decided(at, null, { consumed: [fact.key] });
  const withdrawal = view.records.withdrawals.get(fact.withdrawalId);
  if (withdrawal === undefined) {
    throw new Error(`Cannot settle a payout as its withdrawal is missing: ${fact.withdrawalId}`);
  }
  if (fact.result !== "paid") {
    if (withdrawal.status === "FAILED") return known;
    if (withdrawal.status !== "PENDING") {
      throw new Error(
        `Cannot refund a withdrawal as it is ${withdrawal.status}: ${fact.withdrawalId}`,
      );
    }
    // the row moved on (rebuilt for another attempt): a later outcome decides
    if (view.records.outgoing.get(withdrawal.outgoingId) !== "dead") return known;
    const reason = fact.reason ?? "payout failed";
    const included = fact.result === "failed";
    const changes = refund(view, withdrawal, {
      ...fact,
      reason,
      txid: included ? fact.key.txid : null,
      height: fact.height,
    }, "dead");
    return decided(at, null, { ...changes, consumed: [fact.key] });
  }
  if (withdrawal.status === "CONFIRMED") return known;
  if (withdrawal.status !== "PENDING") {
    throw new Error(
      `Cannot confirm a withdrawal as it is ${withdrawal.status}: ${fact.withdrawalId}`,
    );
  }
  const line = view.records.transactions.get(withdrawal.transactionSeq);
  if (line === undefined) {
    throw new Error(`Cannot confirm a withdrawal as its statement line is missing: ${line}`);
  }
  const { id, currency, network, amount } = withdrawal;
  return decided(at, null, {
    postings: post({
      paymentId: id,
      leg: "paid",
      from: "reserved",
      to: "world",
      currency,
      network,
      amount,
    }),
    withdrawals: [{ ...withdrawal, status: "CONFIRMED", txid: fact.key.txid, processedAt: at }],
    transactions: [{ ...line, status: "CONFIRMED", txid: fact.key.txid, height: fact.height }],
    events: [eventRow(view.state, {
      id: fact.eventId,
      paymentId: id,
      type: "withdrawal.confirmed",
      at,
      payload: withdrawalConfirmedPayload({
        ...withdrawal,
        eventId: fact.eventId,
        withdrawalId: id,
        txHash: fact.key.txid,
        address: withdrawal.destination,
      }),
    })],
    consumed: [fact.key],
  });
}
