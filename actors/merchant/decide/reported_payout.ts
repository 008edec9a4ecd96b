import { verdictId } from "../../../ledger/ingested.ts";
import { networkFeeOf, withdrawalFees } from "../../../ledger/money/fees.ts";
import { pairKey, tokenDecimals } from "../../../ledger/money/pair.ts";
import type { WithdrawalRow } from "../../../ledger/payment_rows.ts";
import type { IngestedRow } from "../../../ledger/rows.ts";
import {
  decided,
  type Decision,
  type DecisionResult,
  refused,
  timeOf,
  type Verb,
} from "../decision.ts";
import type { Answers } from "../merchants.ts";
import type { IngestWithdrawal } from "../messages.ts";
import { type MerchantView, paymentKey } from "../state.ts";
import { confirmPayout, failPayout } from "./end_payout.ts";
import { ingestedRow } from "./manual_deposit.ts";
import { afterOpening, balanceRefusal, openPayout, outgoingRow } from "./withdrawal.ts";

type Answer = Answers["ingest-withdrawal"];

/**
 * Carries out what an upstream system says of a withdrawal. It is failed only while no transaction of the
 * service can pay it; it is confirmed by a transfer that was found in a solid block: by its
 * payout's transaction, or by one of another wallet or one that was declared dead, which then takes
 * the payout's place in the same commit and pays nothing else.
 */
export const ingestWithdrawal: Verb<"ingest-withdrawal"> = (view, message) => {
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
};

function fail(
  view: MerchantView,
  message: IngestWithdrawal,
  withdrawal: WithdrawalRow,
  at: number,
): DecisionResult<Answer> {
  const { status, merchantId } = withdrawal;
  const ingested = [ingestedRow(message.ingestion, merchantId, at)];
  if (status === "FAILED") return decided(at, { status, changed: false }, { ingested });
  const move = { from: status, to: "FAILED" };
  if (status !== "PENDING") return refused({ code: "wrong_state", ...move });
  const payout = view.records.outgoing.get(withdrawal.outgoingId);
  if (payout !== "queued" && payout !== "dead") return refused({ code: "already_sent", ...move });
  const reason = message.reason ?? "failed upstream";
  return decided(at, { status: "FAILED", changed: true }, {
    ...failPayout(view, withdrawal, { ...message, reason }, payout),
    ingested,
  });
}

function confirm(
  view: MerchantView,
  message: IngestWithdrawal,
  withdrawal: WithdrawalRow,
  paidBy: NonNullable<IngestWithdrawal["paidBy"]>,
  at: number,
): DecisionResult<Answer> {
  const { records } = view;
  const { status, merchantId, network, outgoingId } = withdrawal;
  const { txid, height } = paidBy;
  const payout = records.outgoing.get(outgoingId);
  // one that was declared dead since it was read stands for its payout no longer
  const own = paidBy.own && payout !== "queued" && payout !== "dead";
  const ingested: IngestedRow = {
    ...ingestedRow(message.ingestion, merchantId, at),
    // a transaction of the service is bound to its payout already
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
    ...confirmPayout(view, withdrawal, { txid, height, eventIds }, at),
    voided,
    ingested: [ingested],
  });
}

/** The reason that a merchant reads of a payout that was found to have paid nothing. */
const PAID_NOTHING = "the transaction paid nothing to the destination";

/**
 * Settles a withdrawal whose transaction succeeded without the intended transfer: paid and CONFIRMED,
 * or refunded and FAILED. The payout is over either way, and no second verdict is taken.
 */
export const settleWithdrawal: Verb<"settle-withdrawal"> = (view, message) => {
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
  const { txid, height, eventIds } = message;
  const changes = verdict === "paid"
    ? confirmPayout(view, withdrawal, { txid, height, ...paidBy, eventIds }, at)
    : failPayout(view, withdrawal, { ...message, reason: PAID_NOTHING }, "final");
  return decided(at, { status: to, changed: true }, {
    ...changes,
    ingested: [line],
    consumed: message.quarantined === null ? [] : [message.quarantined],
  });
};

/**
 * Books a transfer that has left the hot wallet as a withdrawal that the database has lost: reserved,
 * charged and CONFIRMED in one decision, so that no half of it can be left. The transfer has happened, and
 * was allowed when it was signed: neither the merchant's state nor a closed pair, a minimum or what the
 * wallet holds by now refuses it. Only what the books themselves cannot hold does: a second use of the
 * transaction, a taken reference, a balance below zero. Deciding it again changes nothing.
 */
export const bookPayout: Verb<"book-payout"> = (view, message, settings) => {
  const { state, records } = view;
  const { currency, network, amount, referenceId, paidBy, ingestion } = message;
  const at = timeOf(state, message.at);
  const hash = records.ingested.get(ingestion.eventId);
  if (hash !== undefined && hash !== ingestion.bodyHash) return refused({ code: "event_conflict" });
  if (hash !== undefined) return decided(at, { status: "CONFIRMED", changed: false }, {});
  if (records.payments.has(paymentKey(network, paidBy.txid))) {
    return refused({ code: "payment_used", from: "PENDING", to: "CONFIRMED" });
  }
  const pair = settings.pairs.get(pairKey(currency, network));
  if (pair === undefined) {
    return refused({ code: "withdrawals_closed_for_pair", currency, network });
  }
  const holder = referenceId === null ? undefined : records.holders.get(referenceId);
  if (holder !== undefined) return refused({ code: "reference_taken", withdrawalId: holder });
  const networkFee = networkFeeOf(pair, message.dynamicFee);
  const fees = withdrawalFees(amount, settings.fees, networkFee, tokenDecimals(currency, network));
  const short = balanceRefusal(view, message, fees);
  if (short !== null) return refused(short);

  const beginning = { settlementId: null, needsApproval: false };
  const opened = decided(at, null, openPayout(view, message, beginning, fees)).decision;
  const { withdrawal, after } = afterOpening(view, opened);
  const { merchantId } = withdrawal;
  const { txid } = paidBy;
  const confirmed = confirmPayout(after, withdrawal, { ...paidBy, eventIds: message.eventIds }, at);
  return decided(at, { status: "CONFIRMED", changed: true }, {
    ...opened,
    ...confirmed,
    postings: [...opened.postings, ...confirmed.postings],
    // never in the treasury's queue, and reserved of no wallet: the money has left
    outgoing: [{ ...outgoingRow(withdrawal, at), status: "void", reason: `paid by ${txid}` }],
    ingested: [{ ...ingestedRow(ingestion, merchantId, at), network, txid }],
  });
};
