import { networkFeeOf, withdrawalFees } from "../../../ledger/money/fees.ts";
import type { Settings } from "../../../ledger/journal/read_settings.ts";
import { pairKey, tokenDecimals } from "../../../ledger/money/pair.ts";
import { apply } from "../apply.ts";
import { decided, refused, timeOf, type Verdict } from "../decision.ts";
import type { Answers, BookPayout } from "../messages.ts";
import { type MerchantView, paymentKey } from "../state.ts";
import { confirmPayout } from "./confirm_payout.ts";
import { ingestedRow } from "./manual_deposit.ts";
import { openPayout, outgoingRow } from "./open_payout.ts";
import { balanceRefusal } from "./reserve.ts";

/**
 * Books a transfer that has left the hot wallet as a withdrawal that the database has lost: reserved,
 * charged and CONFIRMED in one decision, so that no half of it can be left. The transfer is a fact, and
 * was allowed when it was signed: neither the merchant's state nor a closed pair, a minimum or what the
 * wallet holds by now refuses it. Only what the books themselves cannot hold does: a second use of the
 * transaction, a taken reference, a balance below zero. Deciding it again changes nothing.
 */
export function bookPayout(
  view: MerchantView,
  settings: Settings,
  message: BookPayout,
): Verdict<Answers["book-payout"]> {
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
  const holder = referenceId === null ? undefined : view.holderOf(referenceId);
  if (holder !== undefined) return refused({ code: "reference_taken", withdrawalId: holder });
  const networkFee = networkFeeOf(pair, message.dynamicFee);
  const fees = withdrawalFees(amount, settings.fees, networkFee, tokenDecimals(currency, network));
  const short = balanceRefusal(view, currency, network, fees);
  if (short !== null) return refused(short);

  const request = { ...message, settlementId: null, needsApproval: false };
  const opened = decided(at, null, openPayout(view, request, fees)).decision;
  const [withdrawal] = opened.withdrawals;
  const [line] = opened.transactions;
  if (withdrawal === undefined || line === undefined) {
    throw new Error(`Cannot book a payout as it has no record: ${message.withdrawalId}`);
  }
  const { merchantId } = withdrawal;
  const { txid } = paidBy;
  const paid = { ...paidBy, eventIds: message.eventIds };
  const confirmed = confirmPayout(apply(state, opened), line, withdrawal, paid, at);
  return decided(at, { status: "CONFIRMED", changed: true }, {
    ...opened,
    ...confirmed,
    postings: [...opened.postings, ...confirmed.postings],
    // never in the treasury's queue, and promised by no wallet: the money has left
    outgoing: [{ ...outgoingRow(withdrawal, at), status: "void", reason: `paid by ${txid}` }],
    ingested: [{ ...ingestedRow(ingestion, merchantId, at), network, txid }],
  });
}
