import type { SettlementRow, WithdrawalRow } from "../../../ledger/rows.ts";
import { decided, refused, timeOf, type Verdict } from "../decision.ts";
import type { SubmittedFact } from "../facts.ts";
import type { Answers, ApproveSettlement, DeclineSettlement } from "../messages.ts";
import type { MerchantView } from "../state.ts";
import { approvedBy, isOwnRecord } from "./hands.ts";
import { outgoingRow } from "./open_payout.ts";
import { refund } from "./refund.ts";
import { moveSettlement } from "./settlement_steps.ts";

function withdrawalOf(view: MerchantView, settlement: SettlementRow): WithdrawalRow {
  const withdrawal = view.records.withdrawals.get(settlement.withdrawalId);
  if (withdrawal === undefined) {
    throw new Error(`Cannot move a settlement as its withdrawal is missing: ${settlement.id}`);
  }
  return withdrawal;
}

/** Lets a waiting settlement go to the treasury. Approving it again changes nothing. */
export function approveSettlement(
  view: MerchantView,
  message: ApproveSettlement,
): Verdict<Answers["approve-settlement"]> {
  const settlement = view.records.settlements.get(message.settlementId);
  if (settlement === undefined) return refused({ code: "record_not_found" });
  const at = timeOf(view.state, message.at);
  switch (settlement.status) {
    case "APPROVED":
    case "PROCESSING":
    case "SUBMITTED_TO_LEDGER":
    case "COMPLETED":
    case "FAILED":
      return decided(at, { status: settlement.status, changed: false }, {});
    case "PENDING":
    case "CANCELLED":
    case "REJECTED":
      return refused({ code: "wrong_state", from: settlement.status, to: "APPROVED" });
    case "APPROVAL_REQUIRED": {
      if (isOwnRecord(settlement, message.audit) || message.isFundedByApprover === true) {
        return refused({ code: "same_administrator" });
      }
      const approval = approvedBy(message.audit);
      const withdrawal = withdrawalOf(view, settlement);
      // its payout is queued in the commit of its approval
      return decided(at, { status: "PROCESSING", changed: true }, {
        settlements: [
          moveSettlement({ ...settlement, ...approval }, ["APPROVED", "PROCESSING"], null, at),
        ],
        withdrawals: [{ ...withdrawal, ...approval, status: "PENDING" }],
        outgoing: [outgoingRow(withdrawal, at)],
      });
    }
    default: {
      const never: never = settlement.status;
      return never;
    }
  }
}

/** Turns a waiting settlement down (administrator) or back (merchant): refunded. */
export function declineSettlement(
  view: MerchantView,
  message: DeclineSettlement,
): Verdict<Answers["decline-settlement"]> {
  const settlement = view.records.settlements.get(message.settlementId);
  if (settlement === undefined) return refused({ code: "record_not_found" });
  const { to } = message;
  if (settlement.status !== "APPROVAL_REQUIRED") {
    return refused({ code: "wrong_state", from: settlement.status, to });
  }
  const at = timeOf(view.state, message.at);
  const withdrawal = withdrawalOf(view, settlement);
  const moved = moveSettlement(settlement, [to], message.reason, at);
  return decided(at, { status: to, settlement: moved }, {
    ...refund(view, withdrawal, { ...message, txid: null, height: null }, null),
    settlements: [moved],
  });
}

/** Notes that a settlement's transaction is signed and on its way. */
export function submitSettlement(view: MerchantView, fact: SubmittedFact): Verdict<null> {
  const at = timeOf(view.state, fact.at);
  const withdrawal = view.records.withdrawals.get(fact.withdrawalId);
  const settlement = view.records.settlements.get(withdrawal?.settlementId ?? "");
  const moves = settlement?.status === "PROCESSING"
    ? [moveSettlement(settlement, ["SUBMITTED_TO_LEDGER"], null, at)]
    : [];
  return decided(at, null, { settlements: moves, consumed: [fact.key] });
}
