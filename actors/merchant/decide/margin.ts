import { add, type Amount, ZERO } from "../../../ledger/money/amount.ts";
import { portionDown } from "../../../ledger/money/fees.ts";
import { type Currency, type Network, tokenDecimals } from "../../../ledger/money/pair.ts";
import type { Account, MarginRow, WithdrawalRow } from "../../../ledger/payment_rows.ts";
import type { InboxInsert, MerchantRow } from "../../../ledger/rows.ts";
import { decided, post, type Posting, timeOf, type Verb } from "../decision.ts";
import { lineEvent, newLine } from "./statement.ts";

/** One fee that was taken, as margins see it. */
export interface FeeEvent {
  readonly leg: string;
  readonly account: Account;
  readonly fee: Amount;
}

/** The payment a fee belongs to. */
export interface FeePayment {
  readonly id: string;
  readonly currency: Currency;
  readonly network: Network;
  readonly volume: Amount;
  readonly at: number;
}

/** A merchant line's share of the fees of one payment. */
export interface Margin {
  /** Sum of the shares. */
  readonly amount: Amount;
  /** The merchant account that earns it; null where none does. */
  readonly to: string | null;
  /** Part of it that is available to the payer itself at once. */
  readonly own: Amount;
  readonly postings: readonly Posting[];
  readonly rows: readonly MarginRow[];
}

/**
 * Shares of a payment's fees: `fee x rate`, rounded down. A merchant's own share is
 * paid at once; what a reseller earns is held on the payer's side until the payment is final, so
 * that no refund can fail because it was spent.
 */
export function earnMargin(
  merchant: MerchantRow,
  payment: FeePayment,
  events: readonly FeeEvent[],
): Margin {
  const { marginBeneficiary: to, marginRate, merchantId } = merchant;
  if (to === null) return { amount: ZERO, to: null, own: ZERO, postings: [], rows: [] };
  const { id: paymentId, currency, network, volume, at } = payment;
  const decimals = tokenDecimals(currency, network);
  const isOwn = to === merchantId;
  const postings: Posting[] = [];
  const rows: MarginRow[] = [];
  let amount: Amount = ZERO;
  for (const { leg, account, fee } of events) {
    if (fee <= 0n) continue;
    const earned = portionDown(fee, marginRate, decimals);
    amount = add(amount, earned);
    postings.push(...post(payment, {
      leg: `${leg}_margin`,
      from: account,
      to: isOwn ? "available" : "margin_held",
      amount: earned,
    }));
    rows.push({
      paymentId,
      leg,
      merchantId,
      beneficiary: to,
      currency,
      network,
      volume,
      fee,
      earned,
      reversed: ZERO,
      createdAt: at,
    });
  }
  return { amount, to, own: isOwn ? amount : ZERO, postings, rows };
}

/** A payment's margin as its record keeps it. */
type KeptMargin = Pick<
  WithdrawalRow,
  "id" | "merchantId" | "currency" | "network" | "margin" | "marginTo"
>;

/** Releases a reseller's share once the payment is final; nothing when there is none. */
export function payMargin(
  payment: KeptMargin,
  at: number,
): { readonly postings: readonly Posting[]; readonly inbox: readonly InboxInsert[] } {
  const { id: txid, merchantId, currency, network, margin, marginTo } = payment;
  if (marginTo === null || marginTo === merchantId || margin <= 0n) {
    return { postings: [], inbox: [] };
  }
  const notice: InboxInsert = {
    merchantId: marginTo,
    network,
    // not a transaction: the payment that earned it, which is as unique
    txid,
    logIndex: 0,
    phase: "margin",
    data: { payer: merchantId, currency, amount: margin.toString() },
    createdAt: at,
    consumedAt: null,
    quarantine: null,
  };
  const due = { leg: "margin_due", from: "margin_held", to: "margin_due" } as const;
  return { postings: post(payment, { ...due, amount: margin }), inbox: [notice] };
}

/** Takes a withdrawal's margin back: from the merchant's available, or from what is held. */
export function clawBackMargin(
  payment: KeptMargin,
  fee: Amount,
  at: number,
): { readonly postings: readonly Posting[]; readonly rows: readonly MarginRow[] } {
  const { id: paymentId, merchantId, currency, network, margin, marginTo } = payment;
  if (marginTo === null) return { postings: [], rows: [] };
  return {
    postings: post(payment, {
      leg: "margin_refund",
      from: marginTo === merchantId ? "available" : "margin_held",
      to: "commission",
      amount: margin,
    }),
    rows: fee <= 0n ? [] : [{
      paymentId,
      leg: "commission_refund",
      merchantId,
      beneficiary: marginTo,
      currency,
      network,
      volume: ZERO,
      fee: ZERO,
      earned: ZERO,
      reversed: margin,
      createdAt: at,
    }],
  };
}

/** Credits a share of another merchant's fees, with a statement line of its own and its event. */
export const takeMargin: Verb<"margin"> = (view, event) => {
  const { state } = view;
  const at = timeOf(state, event.at);
  const { merchantId, network } = event.key;
  const { currency, amount } = event;
  // the payer's leg has the payment's own id; this one must not collide with it
  const id = `${event.key.txid}/${merchantId}`;
  const share = { leg: "margin", from: "margin_due", to: "available", amount } as const;
  const postings = post({ id, currency, network }, share);
  const line = newLine(state, {
    id: event.transactionId,
    paymentId: id,
    type: "DEPOSIT",
    status: "CONFIRMED",
    currency,
    network,
    effect: amount,
    category: "Margin",
    createdAt: at,
  });
  return decided(at, null, {
    postings,
    transactions: [line],
    events: [lineEvent(state, { id: event.eventId, line, postings, at })],
    consumed: [event.key],
  });
};
