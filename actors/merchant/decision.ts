/**
 * What a merchant actor decided: rows in their new image, and the answer. Pure data; `apply` turns
 * it into the next state, the journal into one write.
 *
 * @module
 */

import type { Amount } from "../../ledger/money/amount.ts";
import type {
  Account,
  AuditRow,
  ChargeRow,
  DepositAddressRow,
  DepositRow,
  EventRow,
  InboxInsert,
  InboxKey,
  IngestedRow,
  MarginRow,
  MerchantRow,
  OutgoingRow,
  OutgoingVoid,
  SettlementAddressRow,
  SettlementRow,
  TransactionRow,
  WithdrawalRow,
} from "../../ledger/rows.ts";
import type { Currency, Network } from "../../ledger/money/pair.ts";
import { type EventType } from "../../webhooks/event_type.ts";
import { isSubscribed } from "../../webhooks/subscription.ts";
import type { Refusal } from "./refusal.ts";
import type { MerchantState } from "./state.ts";

/** A movement of money between two accounts of one pair; a reversal is another posting. */
export interface Posting {
  readonly paymentId: string;
  /** What the movement is for; happens at most once per payment. */
  readonly leg: string;
  readonly from: Account;
  readonly to: Account;
  readonly currency: Currency;
  readonly network: Network;
  readonly amount: Amount;
}

/** Everything one message changes. */
export interface Decision {
  readonly at: number;
  readonly postings: readonly Posting[];
  readonly withdrawals: readonly WithdrawalRow[];
  readonly deposits: readonly DepositRow[];
  readonly transactions: readonly TransactionRow[];
  readonly charges: readonly ChargeRow[];
  readonly outgoing: readonly OutgoingRow[];
  readonly voided: readonly OutgoingVoid[];
  readonly events: readonly EventRow[];
  readonly addresses: readonly DepositAddressRow[];
  readonly consumed: readonly InboxKey[];
  readonly profile: MerchantRow | null;
  readonly settlements: readonly SettlementRow[];
  readonly whitelist: readonly SettlementAddressRow[];
  readonly margins: readonly MarginRow[];
  /** Rows for the inboxes of other merchants. */
  readonly inbox: readonly InboxInsert[];
  readonly ingested: readonly IngestedRow[];
  readonly audits: readonly AuditRow[];
}

/** What became of a message. */
export type Verdict<A> =
  | { readonly kind: "decided"; readonly decision: Decision; readonly answer: A }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** A fact that cannot be booked now; it is kept aside and shown to the operator. */
  | { readonly kind: "held"; readonly reason: string };

/** A decision with what is given, and nothing else. */
export function decided<A>(
  at: number,
  answer: A,
  changes: Partial<Omit<Decision, "at">>,
): Extract<Verdict<A>, { readonly kind: "decided" }> {
  return {
    kind: "decided",
    answer,
    decision: {
      at,
      postings: [],
      withdrawals: [],
      deposits: [],
      transactions: [],
      charges: [],
      outgoing: [],
      voided: [],
      events: [],
      addresses: [],
      consumed: [],
      profile: null,
      settlements: [],
      whitelist: [],
      margins: [],
      inbox: [],
      ingested: [],
      audits: [],
      ...changes,
    },
  };
}

/** An expected no. */
export function refused(refusal: Refusal): Verdict<never> {
  return { kind: "refused", refusal };
}

/** How far a merchant's last decision may be ahead before its time counts as a wrong clock's. */
const AHEAD_MS = 5_000;

/**
 * Time of a decision: never before the merchant's last one, so that lists stay in order. A last one
 * that lies further ahead than nodes' clocks differ was made while a clock was wrong, and carries no
 * later decision with it: lists keep their order by their numbers.
 */
export function timeOf(state: MerchantState, at: number): number {
  return state.lastAt - at > AHEAD_MS ? at : Math.max(state.lastAt, at);
}

/** A posting, or nothing when there is nothing to move. */
export function post(posting: Posting): readonly Posting[] {
  return posting.amount > 0n ? [posting] : [];
}

/** The outbox row of an event; skipped when the merchant does not want it now. */
export function eventRow(
  state: MerchantState,
  event: {
    readonly id: string;
    readonly paymentId: string;
    readonly type: EventType;
    readonly payload: string;
    readonly at: number;
  },
): EventRow {
  return {
    id: event.id,
    merchantId: state.merchant.merchantId,
    paymentId: event.paymentId,
    type: event.type,
    payload: event.payload,
    status: isSubscribed(state.merchant, event.type) ? "PENDING" : "SKIPPED",
    attempts: 0,
    nextAttemptAt: event.at,
    claimedUntil: null,
    claimedBy: null,
    lastOutcome: null,
    createdAt: event.at,
    deliveredAt: null,
  };
}
