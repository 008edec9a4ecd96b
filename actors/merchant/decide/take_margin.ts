import { ZERO } from "../../../ledger/money/amount.ts";
import type { TransactionRow } from "../../../ledger/rows.ts";
import { decided, post, timeOf, type Verdict } from "../decision.ts";
import type { MarginFact } from "../facts.ts";
import type { MerchantView } from "../state.ts";
import { lineEvent } from "./end_events.ts";

/** Credits a share of another merchant's fees, with a statement line of its own and its event. */
export function takeMargin(view: MerchantView, fact: MarginFact): Verdict<null> {
  const { state } = view;
  const at = timeOf(state, fact.at);
  const { merchantId, network } = fact.key;
  const { currency, amount } = fact;
  // the payer's leg has the payment's own id; this one must not collide with it
  const paymentId = `${fact.key.txid}/${merchantId}`;
  const postings = post({
    paymentId,
    leg: "margin",
    from: "margin_due",
    to: "available",
    currency,
    network,
    amount,
  });
  const line: TransactionRow = {
    merchantId,
    seq: state.transactionSeq + 1,
    id: fact.transactionId,
    paymentId,
    type: "DEPOSIT",
    status: "CONFIRMED",
    currency,
    network,
    effect: amount,
    fee: ZERO,
    txid: null,
    height: null,
    fromAddress: null,
    toAddress: null,
    referenceId: null,
    description: null,
    category: "Margin",
    createdAt: at,
  };
  return decided(at, null, {
    postings,
    transactions: [line],
    events: [lineEvent(state, { id: fact.eventId, line, postings, at })],
    consumed: [fact.key],
  });
}
