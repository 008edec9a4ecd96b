import { decided, refused, timeOf, type Verdict } from "../decision.ts";
import type { Answers, ApproveWithdrawal, DeclineWithdrawal } from "../messages.ts";
import type { MerchantView } from "../state.ts";
import { approvedBy, isOwnRecord } from "./hands.ts";
import { outgoingRow } from "./open_payout.ts";
import { refund } from "./refund.ts";

/** Lets a waiting withdrawal go to the treasury. Approving it again changes nothing. */
export function approveWithdrawal(
  view: MerchantView,
  message: ApproveWithdrawal,
): Verdict<Answers["approve-withdrawal"]> {
  const withdrawal = view.records.withdrawals.get(message.withdrawalId);
  if (withdrawal === undefined || withdrawal.settlementId !== null) {
    return refused({ code: "record_not_found" });
  }
  const at = timeOf(view.state, message.at);
  const { status } = withdrawal;
  const approved = status === "PENDING" || status === "CONFIRMED" || status === "FAILED";
  if (approved) return decided(at, { status, changed: false }, {});
  if (status !== "PENDING_APPROVAL") {
    return refused({ code: "wrong_state", from: status, to: "PENDING" });
  }
  if (isOwnRecord(withdrawal, message.audit) || message.isFundedByApprover === true) {
    return refused({ code: "same_administrator" });
  }
  return decided(at, { status: "PENDING", changed: true }, {
    withdrawals: [{ ...withdrawal, ...approvedBy(message.audit), status: "PENDING" }],
    outgoing: [outgoingRow(withdrawal, at)],
  });
}

/** Turns a waiting withdrawal down (administrator) or back (merchant): refunded, reference freed. */
export function declineWithdrawal(
  view: MerchantView,
  message: DeclineWithdrawal,
): Verdict<Answers["decline-withdrawal"]> {
  const withdrawal = view.records.withdrawals.get(message.withdrawalId);
  if (withdrawal === undefined || withdrawal.settlementId !== null) {
    return refused({ code: "record_not_found" });
  }
  const { status } = withdrawal;
  if (status !== "PENDING_APPROVAL") {
    return refused({ code: "wrong_state", from: status, to: "CANCELLED" });
  }
  const stamp = { ...message, txid: null, height: null };
  return decided(
    timeOf(view.state, message.at),
    { status: "CANCELLED" },
    refund(view, withdrawal, stamp, null),
  );
}
