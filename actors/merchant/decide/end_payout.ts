import { add, negate, ZERO } from "../../../ledger/money/amount.ts";
import { checkMove, type SettlementStatus } from "../../../ledger/money/transitions.ts";
import type {
  SettlementRow,
  SettlementStep,
  TransactionRow,
  WithdrawalRow,
} from "../../../ledger/rows.ts";
import { withdrawalConfirmedPayload } from "../../../webhooks/payloads/withdrawal_confirmed.ts";
import { withdrawalFailedPayload } from "../../../webhooks/payloads/withdrawal_failed.ts";
import type { OutcomeEvent } from "../chain_events.ts";
import { decided, type Decision, type DecisionResult, post, timeOf } from "../decision.ts";
import type { EventIds } from "../messages.ts";
import type { MerchantState, MerchantView } from "../state.ts";
import { endEvents } from "./end_events.ts";
import { clawBackMargin, payMargin } from "./margin.ts";

/**
 * Settles a withdrawal from what solid blocks say of its payout: paid and CONFIRMED, or refunded
 * and FAILED. Hearing it again changes nothing.
 */
export function settlePayout(view: MerchantView, event: OutcomeEvent): DecisionResult<null> {
  const at = timeOf(view.state, event.at);
  const known = decided(at, null, { consumed: [event.key] });
  const withdrawal = view.records.withdrawals.get(event.withdrawalId);
  if (withdrawal === undefined) {
    throw new Error(`Cannot settle a payout as its withdrawal is missing: ${event.withdrawalId}`);
  }
  const paid = event.result === "paid";
  const reached = paid ? "CONFIRMED" : "FAILED";
  if (withdrawal.status === reached) return known;
  // the row moved on (rebuilt for another attempt, or given up): what moved it decides
  if (!paid && view.records.outgoing.get(withdrawal.outgoingId) !== "dead") return known;
  if (withdrawal.status !== "PENDING") {
    throw new Error(
      `Cannot settle a payout as ${withdrawal.status} cannot become ${reached}: ${withdrawal.id}`,
    );
  }
  const changes = paid
    ? confirmPayout(view.state, lineOf(view, withdrawal), withdrawal, {
      ...event,
      txid: event.key.txid,
    }, at)
    : refund(view, withdrawal, {
      ...event,
      reason: event.reason ?? "payout failed",
      txid: event.result === "failed" ? event.key.txid : null,
    }, "dead");
  const status = paid ? "COMPLETED" : "FAILED";
  return decided(at, null, {
    ...changes,
    settlements: endSettlement(view, withdrawal, status, event.reason, at),
    consumed: [event.key],
  });
}

/** The transaction that paid a withdrawal, from a solid block. */
export interface PaidBy {
  readonly txid: string;
  readonly height: number | null;
  readonly eventIds: EventIds;
}

/**
 * A paid withdrawal's records: the reserve is spent, the margin due, the events made.
 *
 * @param state the account before this
 * @param before the withdrawal's statement line before this
 */
export function confirmPayout(
  state: MerchantState,
  before: TransactionRow,
  withdrawal: WithdrawalRow,
  { txid, height, eventIds }: PaidBy,
  at: number,
): Partial<Decision> & Pick<Decision, "postings"> {
  const { id, currency, network, amount } = withdrawal;
  const margin = payMargin(withdrawal, at);
  const paid = { paymentId: id, leg: "paid", from: "reserved", to: "world" } as const;
  const postings = [...post({ ...paid, currency, network, amount }), ...margin.postings];
  const line: TransactionRow = { ...before, status: "CONFIRMED", txid, height };
  return {
    postings,
    inbox: margin.inbox,
    withdrawals: [{ ...withdrawal, status: "CONFIRMED", txid, processedAt: at }],
    transactions: [line],
    // settlements are read, not called back
    events: withdrawal.settlementId !== null ? [] : endEvents(state, {
      ids: eventIds,
      type: "withdrawal.confirmed",
      payload: (eventId) =>
        withdrawalConfirmedPayload({
          ...withdrawal,
          eventId,
          withdrawalId: id,
          txHash: txid,
          address: withdrawal.destination,
        }),
      line,
      postings,
      at,
    }),
  };
}

/** The settlement that a withdrawal carries out, at its end; nothing for an ordinary one. */
export function endSettlement(
  view: MerchantView,
  withdrawal: WithdrawalRow,
  status: "COMPLETED" | "FAILED",
  reason: string | null,
  at: number,
): readonly SettlementRow[] {
  if (withdrawal.settlementId === null) return [];
  const settlement = view.records.settlements.get(withdrawal.settlementId);
  if (settlement === undefined) {
    throw new Error(`Cannot settle as the settlement is missing: ${withdrawal.settlementId}`);
  }
  // its end may be read before its submission was
  const isSubmitted = settlement.status === "SUBMITTED_TO_LEDGER";
  return status === "COMPLETED" && !isSubmitted
    ? [moveSettlement(settlement, ["SUBMITTED_TO_LEDGER", status], reason, at)]
    : [moveSettlement(settlement, [status], reason, at)];
}

export interface RefundStamp {
  readonly at: number;
  readonly reason: string;
  readonly chargeIds: readonly [string, string];
  readonly eventIds: EventIds;
  /** The failed transaction, where one was included in a block. */
  readonly txid: string | null;
  readonly height: number | null;
}

export interface RefundView {
  readonly state: MerchantView["state"];
  readonly records: Pick<MerchantView["records"], "transactions">;
}

/** A withdrawal's statement line. */
export function lineOf(view: RefundView, withdrawal: WithdrawalRow): TransactionRow {
  const line = view.records.transactions.get(withdrawal.transactionSeq);
  if (line === undefined) {
    throw new Error(
      `Cannot change a withdrawal as its statement line is missing: ${withdrawal.id}`,
    );
  }
  return line;
}

/**
 * Everything that gives a withdrawal's money back: exactly what was reserved, charged and credited,
 * reversed; the reference released; the payout's row given up in the same commit.
 *
 * @param from the payout's state it is given up from (another state at commit time refuses it all),
 *   `final` where its transaction was found to have paid nothing, or `null` where it never had one,
 *   because it was not approved
 */
export function refund(
  view: RefundView,
  withdrawal: WithdrawalRow,
  stamp: RefundStamp,
  from: "queued" | "dead" | "final" | null,
): Partial<Decision> {
  const { state } = view;
  const at = timeOf(state, stamp.at);
  const { id, merchantId, currency, network, amount, networkFee } = withdrawal;
  const commission = add(withdrawal.baseFee, withdrawal.markupAmount);
  const status = from === null ? "CANCELLED" : "FAILED";
  const posting = { paymentId: id, to: "available", currency, network } as const;
  const margin = clawBackMargin(withdrawal, commission, at);
  const reversals = [
    { amount: commission, id: stamp.chargeIds[0] },
    { amount: networkFee, id: stamp.chargeIds[1] },
  ].filter((charge) => charge.amount > 0n);
  const { txid, height, reason } = stamp;
  const postings = [
    ...post({ ...posting, leg: "refund", from: "reserved", amount }),
    ...margin.postings,
    ...post({ ...posting, leg: "commission_refund", from: "commission", amount: commission }),
    ...post({ ...posting, leg: "network_fee_refund", from: "network_fee", amount: networkFee }),
  ];
  const line: TransactionRow = { ...lineOf(view, withdrawal), status, effect: ZERO, txid, height };
  return {
    postings,
    withdrawals: [{ ...withdrawal, status, reason, txid, processedAt: at }],
    transactions: [line],
    charges: reversals.map((charge, index) => ({
      merchantId,
      seq: state.chargeSeq + 1 + index,
      id: charge.id,
      paymentId: id,
      type: "REVERSAL",
      currency,
      network,
      amount: negate(charge.amount),
      createdAt: at,
    })),
    margins: margin.rows,
    voided: from === null || from === "final"
      ? []
      : [{ id: withdrawal.outgoingId, merchantId, fromStatus: from, reason }],
    // settlements are read, not called back
    events: withdrawal.settlementId !== null ? [] : endEvents(state, {
      ids: stamp.eventIds,
      type: "withdrawal.failed",
      payload: (eventId) =>
        withdrawalFailedPayload({
          eventId,
          withdrawalId: id,
          amount,
          currency,
          reason,
          txHash: txid,
          referenceId: withdrawal.referenceId,
          address: withdrawal.destination,
        }),
      line,
      postings,
      at,
    }),
  };
}

/** A path of states that is not empty. */
type Steps = readonly [...(readonly SettlementStatus[]), SettlementStatus];

function stepsOf(statuses: readonly SettlementStatus[], at: number): readonly SettlementStep[] {
  return statuses.map((status) => ({ status, at: new Date(at).toISOString() }));
}

/**
 * A settlement as it is made: `PENDING`, and on from there in the same commit.
 *
 * @param at Unix milliseconds
 * @throws when a step is not allowed
 */
export function openSettlement(
  row: Omit<SettlementRow, "status" | "reason" | "history" | "createdAt" | "updatedAt">,
  steps: Steps,
  at: number,
): SettlementRow {
  const pending: SettlementRow = {
    ...row,
    status: "PENDING",
    reason: null,
    createdAt: at,
    updatedAt: at,
    history: stepsOf(["PENDING"], at),
  };
  return moveSettlement(pending, steps, null, at);
}

/**
 * A settlement after one or more steps, each of which its history keeps; the database checks the
 * same.
 *
 * @param steps the states it passes, its new one last
 * @param reason why it ended without a payout, null where it did not
 * @param at Unix milliseconds
 * @throws when a step is not allowed
 */
export function moveSettlement(
  settlement: SettlementRow,
  steps: Steps,
  reason: string | null,
  at: number,
): SettlementRow {
  let { status } = settlement;
  for (const step of steps) {
    checkMove("settlement", settlement.id, status, step);
    status = step;
  }
  const history = [...settlement.history, ...stepsOf(steps, at)];
  return { ...settlement, status, reason, updatedAt: at, history };
}
