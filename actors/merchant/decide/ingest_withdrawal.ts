import type { IngestedRow, WithdrawalRow } from "../../../ledger/rows.ts";
import { decided, type Decision, refused, timeOf, type Verdict } from "../decision.ts";
import type { Answers, IngestWithdrawal } from "../messages.ts";
import { type MerchantView, paymentKey } from "../state.ts";
import { confirmPayout, endSettlement } from "./confirm_payout.ts";
import { ingestedRow } from "./manual_deposit.ts";
import { lineOf, refund } from "./refund.ts";

type Answer = Answers["ingest-withdrawal"];

/**
 * Carries out what an upstream system says of a withdrawal. It is failed only while none of our
 * transactions can pay it; it is confirmed by a transfer that was found in a solid block: by its
 * payout's transaction, or by one of another wallet or one that was declared dead, which then takes
 * the payout's place in the same commit and pays nothing else.
 */
export function ingestWithdrawal(
  view: MerchantView,
  message: IngestWithdrawal,
): Verdict<Answer> {
  const { records } = view;
  const { ingestion } = message;
  const at = timeOf(view.state, message.at);
  const hash = records.ingested.get(ingestion.eventId);
  if (hash !== undefined && hash !== ingestion.bodyHash) return refused({ code: "event_conflict" });
  const withdrawal = records.withdrawals.get(message.withdrawalId);
  if (withdrawal === undefined) return refused({ code: "record_not_found" });
  const { status } = withdrawal;
  if (hash !== undefined) return decided(at, { status, changed: false }, {});
  return message.paidBy === null
    ? fail(view, message, withdrawal, at)
    : confirm(view, message, withdrawal, message.paidBy, at);
}

function fail(
  view: MerchantView,
  message: IngestWithdrawal,
  withdrawal: WithdrawalRow,
  at: number,
): Verdict<Answer> {
  const { status, merchantId } = withdrawal;
  const ingested = [ingestedRow(message.ingestion, merchantId, at)];
  if (status === "FAILED") return decided(at, { status, changed: false }, { ingested });
  const move = { from: status, to: "FAILED" };
  if (status !== "PENDING") return refused({ code: "wrong_state", ...move });
  const payout = view.records.outgoing.get(withdrawal.outgoingId);
  if (payout !== "queued" && payout !== "dead") return refused({ code: "already_sent", ...move });
  const reason = message.reason ?? "failed upstream";
  const stamp = { ...message, reason, txid: null, height: null };
  return decided(at, { status: "FAILED", changed: true }, {
    ...refund(view, withdrawal, stamp, payout),
    settlements: endSettlement(view, withdrawal, "FAILED", reason, at),
    ingested,
  });
}

function confirm(
  view: MerchantView,
  message: IngestWithdrawal,
  withdrawal: WithdrawalRow,
  paidBy: NonNullable<IngestWithdrawal["paidBy"]>,
  at: number,
): Verdict<Answer> {
  const { records } = view;
  const { status, merchantId, network, outgoingId } = withdrawal;
  const { txid, height } = paidBy;
  const payout = records.outgoing.get(outgoingId);
  // one that was declared dead since it was looked up stands for its payout no longer
  const own = paidBy.own && payout !== "queued" && payout !== "dead";
  const ingested: IngestedRow = {
    ...ingestedRow(message.ingestion, merchantId, at),
    // a transaction of ours is bound to its payout already
    ...(own ? {} : { network, txid }),
  };
  if (status === "CONFIRMED" && withdrawal.txid === txid) {
    const again = { ...ingested, network: null, txid: null };
    return decided(at, { status, changed: false }, { ingested: [again] });
  }
  const move = { from: status, to: "CONFIRMED" };
  if (status !== "PENDING") return refused({ code: "wrong_state", ...move });
  if (!own && records.payments.has(paymentKey(network, txid))) {
    return refused({ code: "payment_used", ...move });
  }
  let voided: Decision["voided"] = [];
  if (own) {
    if (payout !== "signed" && payout !== "final") {
      throw new Error(
        `Cannot confirm as a payout thought ${payout} is on the chain: ${outgoingId}`,
      );
    }
  } else {
    // signed bytes may still be included: confirming now could pay twice
    if (payout !== "queued" && payout !== "dead") return refused({ code: "already_sent", ...move });
    voided = [{ id: outgoingId, merchantId, fromStatus: payout, reason: `paid by ${txid}` }];
  }
  const { eventIds } = message;
  return decided(at, { status: "CONFIRMED", changed: true }, {
    ...confirmPayout(
      view.state,
      lineOf(view, withdrawal),
      withdrawal,
      { txid, height, eventIds },
      at,
    ),
    settlements: endSettlement(view, withdrawal, "COMPLETED", null, at),
    voided,
    ingested: [ingested],
  });
}
