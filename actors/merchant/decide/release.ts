import { decided, refused, timeOf, type Verdict } from "../decision.ts";
import type { Answers, Release } from "../messages.ts";
import type { MerchantView } from "../state.ts";
import { refund } from "./refund.ts";

/**
 * Decides whether a withdrawal can be given up: only while it is pending and its payout is in the
 * named state. A payout that was signed meanwhile cannot be taken back.
 */
export function release(view: MerchantView, message: Release): Verdict<Answers["release"]> {
  const withdrawal = view.records.withdrawals.get(message.withdrawalId);
  // a settlement has a status of its own, which a release would leave behind
  if (withdrawal === undefined || withdrawal.settlementId !== null) {
    return refused({ code: "record_not_found" });
  }
  const move = { from: withdrawal.status, to: "FAILED" };
  if (withdrawal.status !== "PENDING") return refused({ code: "wrong_state", ...move });
  if (view.records.outgoing.get(withdrawal.outgoingId) !== message.from) {
    return refused({ code: "already_sent", ...move });
  }
  return decided(
    timeOf(view.state, message.at),
    { status: "FAILED" },
    refund(view, withdrawal, { ...message, txid: null, height: null }, message.from),
  );
}
