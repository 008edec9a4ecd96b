import { verdictId } from "../../../ledger/ingested.ts";
import type { IngestedRow, WithdrawalRow } from "../../../ledger/rows.ts";
import { decided, type Decision, refused, timeOf, type Verdict } from "../decision.ts";
import type { Answers, SettleWithdrawal } from "../messages.ts";
import { type MerchantView, paymentKey } from "../state.ts";
import { confirmPayout, endSettlement } from "./confirm_payout.ts";
import { lineOf, refund } from "./refund.ts";

/** The reason that a merchant reads of a payout that was found to have paid nothing. */
const PAID_NOTHING = "the transaction paid nothing to the destination";

/**
 * Settles a withdrawal whose transaction succeeded without the intended transfer: paid and CONFIRMED,
 * or refunded and FAILED. The payout is over either way, and no second verdict is taken.
 */
export function settleWithdrawal(
  view: MerchantView,
  message: SettleWithdrawal,
): Verdict<Answers["settle-withdrawal"]> {
  const { records } = view;
  const { verdict, network, paidBy } = message;
  const at = timeOf(view.state, message.at);
  const withdrawal = records.withdrawals.get(message.withdrawalId);
  if (withdrawal === undefined) return refused({ code: "record_not_found" });
  const { status, merchantId, outgoingId } = withdrawal;
  const to = verdict === "paid" ? "CONFIRMED" : "FAILED";
  const known = records.ingested.get(verdictId(withdrawal.id));
  if (known === verdict) return decided(at, { status, changed: false }, {});
  if (known !== undefined || status !== "PENDING") {
    return refused({ code: "wrong_state", from: status, to });
  }
  if (records.outgoing.get(outgoingId) !== "final") {
    return refused({ code: "already_sent", from: status, to });
  }
  if (paidBy !== null && records.payments.has(paymentKey(network, paidBy.txid))) {
    return refused({ code: "payment_used", from: status, to });
  }
  const line: IngestedRow = {
    eventId: verdictId(withdrawal.id),
    merchantId,
    bodyHash: verdict,
    network: paidBy === null ? null : network,
    txid: paidBy?.txid ?? null,
    createdAt: at,
  };
  return decided(at, { status: to, changed: true }, {
    ...changesOf(view, message, withdrawal, at),
    ingested: [line],
    consumed: message.aside === null ? [] : [message.aside],
  });
}

function changesOf(
  view: MerchantView,
  message: SettleWithdrawal,
  withdrawal: WithdrawalRow,
  at: number,
): Partial<Decision> {
  const { verdict, paidBy, txid, height, eventIds } = message;
  if (verdict === "not_paid") {
    const stamp = { ...message, reason: PAID_NOTHING };
    return {
      ...refund(view, withdrawal, stamp, "final"),
      settlements: endSettlement(view, withdrawal, "FAILED", PAID_NOTHING, at),
    };
  }
  return {
    ...confirmPayout(view.state, lineOf(view, withdrawal), withdrawal, {
      txid,
      height,
      ...paidBy,
      eventIds,
    }, at),
    settlements: endSettlement(view, withdrawal, "COMPLETED", null, at),
  };
}
