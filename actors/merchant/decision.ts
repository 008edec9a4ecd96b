/**
 * The decision of a merchant actor: rows in their new image, and the answer. Pure data; `apply` turns
 * it into the next state, the journal into one write.
 *
 * @module
 */

import type { Balance } from "../../ledger/journal/read_accounts.ts";
import type { Settings } from "../../ledger/settings.ts";
import { add, type Amount, formatAmount, min, subtract, ZERO } from "../../ledger/money/amount.ts";
import { type Currency, type Network, pairKey } from "../../ledger/money/pair.ts";
import { checkMove, type RecordKind } from "../../ledger/money/transitions.ts";
import type {
  Account,
  PayoutOpening,
  SettlementRow,
  WithdrawalRow,
} from "../../ledger/payment_rows.ts";
import {
  type ChangingRows,
  type MerchantRow,
  NO_ROWS,
  type WrittenOnce,
} from "../../ledger/rows.ts";
import type { ChainEvent } from "./chain_events.ts";
import type { Answers, MerchantCommand } from "./merchants.ts";
import type { Refusal } from "./refusal.ts";
import type { MerchantState, MerchantView, Records } from "./state.ts";

/** A movement of money between two accounts of one pair; a reversal is another posting. */
export interface Posting {
  readonly paymentId: string;
  /** Purpose of the movement; happens at most once per payment. */
  readonly leg: string;
  readonly from: Account;
  readonly to: Account;
  readonly currency: Currency;
  readonly network: Network;
  readonly amount: Amount;
}

/** Everything one message changes, rows in their new image. */
export interface Decision extends ChangingRows, WrittenOnce {
  readonly at: number;
  readonly postings: readonly Posting[];
  /** The merchant's profile where it changed. */
  readonly profile: MerchantRow | null;
  /** The one payout that begins here in the ordinary way: what the database derives its rows from. */
  readonly opening: PayoutOpening | null;
}

/** The outcome of deciding a message. */
export type DecisionResult<A> =
  | { readonly kind: "decided"; readonly decision: Decision; readonly answer: A }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** It would be refused, but for another reason if a withdrawal holds its reference, which was not read. */
  | { readonly kind: "unread" }
  /** A chain event that cannot be booked now; it is kept out and shown to the operator. */
  | { readonly kind: "quarantined"; readonly reason: string };

/** A message of a merchant's mailbox that changes money or records. */
export type MerchantMessage = MerchantCommand | ChainEvent;

/** Any answer a merchant gives. */
export type Answer = Answers[keyof Answers] | null;

/** Decides messages of one type; a chain event has no answer. */
export type Verb<T extends MerchantMessage["type"]> = (
  view: MerchantView,
  message: Extract<MerchantMessage, { readonly type: T }>,
  settings: Settings,
) => DecisionResult<T extends keyof Answers ? Answers[T] : null>;

const NOTHING: Decision = {
  at: 0,
  postings: [],
  profile: null,
  opening: null,
  ...NO_ROWS,
};

/** A decision with what is given, and nothing else. */
export function decided<A>(
  at: number,
  answer: A,
  changes: Partial<Omit<Decision, "at">>,
): Extract<DecisionResult<A>, { readonly kind: "decided" }> {
  return { kind: "decided", answer, decision: { ...NOTHING, ...changes, at } };
}

/** An expected no. */
export function refused(refusal: Refusal): DecisionResult<never> {
  return { kind: "refused", refusal };
}

/** A merchant's last decision that is further ahead, milliseconds, was made by a wrong clock. */
const AHEAD_MS = 5_000;

/**
 * Time of a decision: never before the merchant's last one, so that lists stay in order. A last one
 * that lies further ahead than nodes' clocks differ was made while a clock was wrong, and carries no
 * later decision with it: lists keep their order by their numbers.
 */
export function timeOf(state: MerchantState, at: number): number {
  return state.lastAt - at > AHEAD_MS ? at : Math.max(state.lastAt, at);
}

/** A posting of a payment, or nothing when there is nothing to move. */
export function post(
  { id: paymentId, currency, network }: Pick<WithdrawalRow, "id" | "currency" | "network">,
  { leg, from, to, amount }: Pick<Posting, "leg" | "from" | "to" | "amount">,
): readonly Posting[] {
  return amount > 0n ? [{ paymentId, leg, from, to, currency, network, amount }] : [];
}

const EMPTY: Balance = { available: ZERO, pending: ZERO, reserved: ZERO };

/**
 * The account after a decision. The database derives the same balances from the same postings.
 *
 * @param records the records as they were before it
 * @throws when a balance would fall below zero, a list number is not the next one, or a record would
 *   move to a status that may not follow its own: the decision broke an assumption
 */
export function apply(
  { state, records }: Pick<MerchantView, "state" | "records">,
  decision: Decision,
): MerchantState {
  checkMoves(records, decision);
  const balances = balancesAfter(state.balances, decision.postings);
  for (const [key, { available, pending, reserved }] of balances) {
    if (available >= 0n && pending >= 0n && reserved >= 0n) continue;
    const lowest = min(available, min(pending, reserved));
    throw new Error(
      `Cannot apply a decision as a balance of ${key} would be negative: ${formatAmount(lowest)}`,
    );
  }
  return {
    ...state,
    merchant: decision.profile ?? state.merchant,
    balances,
    depositSeq: next(state.depositSeq, decision.deposits),
    withdrawalSeq: next(state.withdrawalSeq, decision.withdrawals),
    transactionSeq: next(state.transactionSeq, decision.transactions),
    settlementSeq: next(state.settlementSeq, decision.settlements),
    chargeSeq: next(state.chargeSeq, decision.charges),
    lastAt: decision.at,
  };
}

function balancesAfter(
  before: MerchantState["balances"],
  postings: readonly Posting[],
): MerchantState["balances"] {
  if (postings.length === 0) return before;
  const balances = new Map(before);
  for (const posting of postings) {
    const key = pairKey(posting.currency, posting.network);
    const { available, pending, reserved } = balances.get(key) ?? EMPTY;
    const balance = { available, pending, reserved };
    if (isOwn(posting.from)) {
      balance[posting.from] = subtract(balance[posting.from], posting.amount);
    }
    if (isOwn(posting.to)) balance[posting.to] = add(balance[posting.to], posting.amount);
    balances.set(key, balance);
  }
  return balances;
}

function checkMoves(records: Records, decision: Decision): void {
  checkKind("withdrawal", decision.withdrawals, records);
  checkKind("deposit", decision.deposits, records);
  checkKind("transaction", decision.transactions, records);
  for (const row of decision.settlements) checkSteps(row, records.settlements.get(row.id));
  for (const { id, fromStatus } of decision.voided) {
    checkMove("outgoing", id, records.outgoing.get(id) ?? fromStatus, "void");
  }
}

function checkKind(
  record: RecordKind,
  rows: readonly { readonly id: string; readonly status: string }[],
  { byId }: Records,
): void {
  for (const { id, status } of rows) {
    const before = byId.get(id);
    if (before === undefined || !("status" in before) || before.status === status) continue;
    checkMove(record, id, before.status, status);
  }
}

/** A settlement may take several steps at once; its history has each of them. */
function checkSteps({ id, status, history }: SettlementRow, before: SettlementRow | undefined) {
  let from: string = before?.status ?? "PENDING";
  for (const step of history.slice(before?.history.length ?? 1)) {
    checkMove("settlement", id, from, step.status);
    from = step.status;
  }
  if (from !== status) checkMove("settlement", id, from, status);
}

/** True for an account of the merchant's own; what the others hold is derived from their postings. */
function isOwn(account: Account): account is keyof Balance & Account {
  return account in EMPTY;
}

function next(current: number, rows: readonly { readonly seq: number | null }[]): number {
  let last = current;
  for (const { seq: number } of rows) {
    if (number === null || number <= current) continue;
    if (number !== last + 1) {
      throw new Error(`Cannot number a row as numbers have no gaps: ${number} after ${last}`);
    }
    last = number;
  }
  return last;
}
