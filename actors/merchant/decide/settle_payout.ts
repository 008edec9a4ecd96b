import type { SettlementRow, TransactionRow, WithdrawalRow } from "../../../ledger/rows.ts";
import { withdrawalConfirmedPayload } from "../../../webhooks/payloads/withdrawal_confirmed.ts";
import { decided, type Decision, post, timeOf, type Verdict } from "../decision.ts";
import type { OutcomeFact } from "../facts.ts";
import type { MerchantView } from "../state.ts";
import { endEvents } from "./end_events.ts";
import { payMargin } from "./margin.ts";
import { lineOf, refund } from "./refund.ts";

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
  const paid = fact.result === "paid";
  const reached = paid ? "CONFIRMED" : "FAILED";
  if (withdrawal.status === reached) return known;
  if (withdrawal.status !== "PENDING") {
    throw new Error(
      `Cannot settle a payout as ${withdrawal.status} cannot become ${reached}: ${withdrawal.id}`,
    );
  }
  // the row moved on (rebuilt for another attempt): a later outcome decides
  if (!paid && view.records.outgoing.get(withdrawal.outgoingId) !== "dead") return known;
  const changes = paid ? confirm(view, withdrawal, fact, at) : refund(view, withdrawal, {
    ...fact,
    reason: fact.reason ?? "payout failed",
    txid: fact.result === "failed" ? fact.key.txid : null,
  }, "dead");
  return decided(at, null, {
    ...changes,
    settlements: settlementsOf(view, withdrawal, paid ? "COMPLETED" : "FAILED", fact, at),
    consumed: [fact.key],
  });
}

function confirm(
  view: MerchantView,
  withdrawal: WithdrawalRow,
  fact: OutcomeFact,
  at: number,
): Partial<Decision> {
  const { id, currency, network, amount } = withdrawal;
  const { txid } = fact.key;
  const margin = payMargin(withdrawal, at);
  const paid = { paymentId: id, leg: "paid", from: "reserved", to: "world" } as const;
  const postings = [...post({ ...paid, currency, network, amount }), ...margin.postings];
  const line: TransactionRow = {
    ...lineOf(view, withdrawal),
    status: "CONFIRMED",
    txid,
    height: fact.height,
  };
  return {
    postings,
    inbox: margin.inbox,
    withdrawals: [{ ...withdrawal, status: "CONFIRMED", txid, processedAt: at }],
    transactions: [line],
    // settlements are read, not called back
    events: withdrawal.settlementId !== null ? [] : endEvents(view.state, {
      ids: fact.eventIds,
      type: "withdrawal.confirmed",
      payload: (eventId) =>
        withdrawalConfirmedPayload({
          ...withdrawal,
          eventId,
          withdrawalId: id,
          txHash: txid,
          address: withdrawal.destination,
        }),
      line,
      postings,
      at,
    }),
  };
}

function settlementsOf(
  view: MerchantView,
  withdrawal: WithdrawalRow,
  status: "COMPLETED" | "FAILED",
  fact: OutcomeFact,
  at: number,
): readonly SettlementRow[] {
  if (withdrawal.settlementId === null) return [];
  const settlement = view.records.settlements.get(withdrawal.settlementId);
  if (settlement === undefined) {
    throw new Error(`Cannot settle as the settlement is missing: ${withdrawal.settlementId}`);
  }
  return [{ ...settlement, status, reason: fact.reason, updatedAt: at }];
}
