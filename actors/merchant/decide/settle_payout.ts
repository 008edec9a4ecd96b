import { decided, timeOf, type Verdict } from "../decision.ts";
import type { OutcomeFact } from "../facts.ts";
import type { MerchantView } from "../state.ts";
import { confirmPayout, endSettlement } from "./confirm_payout.ts";
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
  // the row moved on (rebuilt for another attempt, or given up): what moved it decides
  if (!paid && view.records.outgoing.get(withdrawal.outgoingId) !== "dead") return known;
  if (withdrawal.status !== "PENDING") {
    throw new Error(
      `Cannot settle a payout as ${withdrawal.status} cannot become ${reached}: ${withdrawal.id}`,
    );
  }
  const changes = paid
    ? confirmPayout(view.state, lineOf(view, withdrawal), withdrawal, {
      ...fact,
      txid: fact.key.txid,
    }, at)
    : refund(view, withdrawal, {
      ...fact,
      reason: fact.reason ?? "payout failed",
      txid: fact.result === "failed" ? fact.key.txid : null,
    }, "dead");
  const status = paid ? "COMPLETED" : "FAILED";
  return decided(at, null, {
    ...changes,
    settlements: endSettlement(view, withdrawal, status, fact.reason, at),
    consumed: [fact.key],
  });
}
