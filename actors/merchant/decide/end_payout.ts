import { add, negate, ZERO } from "../../../ledger/money/amount.ts";
import { checkMove, type SettlementStatus } from "../../../ledger/money/transitions.ts";
import type { SettlementRow, TransactionRow, WithdrawalRow } from "../../../ledger/payment_rows.ts";
import { withdrawalConfirmedPayload, withdrawalFailedPayload } from "../../../webhooks/events.ts";
import { decided, type Decision, post, timeOf, type Verb } from "../decision.ts";
import type { EndIds, EventIds } from "../messages.ts";
import type { MerchantView } from "../state.ts";
import { clawBackMargin, payMargin } from "./margin.ts";
import { chargesOf, endEvents, lineOf } from "./statement.ts";

/**
 * Ends a withdrawal by what solid blocks say of its payout: paid and CONFIRMED, or refunded and FAILED.
 * Reading it again changes nothing.
 */
export const endPayout: Verb<"outcome"> = (view, event) => {
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
  const { txid } = event.key;
  const reason = event.reason ?? "payout failed";
  const changes = paid ? confirmPayout(view, withdrawal, { ...event, txid }, at) : failPayout(
    view,
    withdrawal,
    { ...event, reason, txid: event.result === "failed" ? txid : null },
    "dead",
    event.reason,
  );
  return decided(at, null, { ...changes, consumed: [event.key] });
};

/** The transaction that paid a withdrawal, from a solid block. */
export interface PaidBy {
  readonly txid: string;
  readonly height: number | null;
  readonly eventIds: EventIds;
  /** As the settlement shows it; absent: none. */
  readonly reason?: string | null;
}

/** A paid withdrawal's records: the reserve is spent, the margin due, the events made, its settlement ended. */
export function confirmPayout(
  view: PayoutView,
  withdrawal: WithdrawalRow,
  { txid, height, eventIds, reason = null }: PaidBy,
  at: number,
): Partial<Decision> & Pick<Decision, "postings"> {
  const { amount } = withdrawal;
  const margin = payMargin(withdrawal, at);
  const paid = { leg: "paid", from: "reserved", to: "world", amount } as const;
  const postings = [...post(withdrawal, paid), ...margin.postings];
  const line: TransactionRow = {
    ...payoutLine(view, withdrawal),
    status: "CONFIRMED",
    txid,
    height,
  };
  return {
    postings,
    inbox: margin.inbox,
    withdrawals: [{ ...withdrawal, status: "CONFIRMED", txid, processedAt: at }],
    transactions: [line],
    settlements: endSettlement(view, withdrawal, "COMPLETED", reason, at),
    // settlements are read, not called back
    events: withdrawal.settlementId !== null ? [] : endEvents(view.state, {
      ids: eventIds,
      type: "withdrawal.confirmed",
      payload: (eventId) =>
        withdrawalConfirmedPayload({
          ...withdrawal,
          eventId,
          withdrawalId: withdrawal.id,
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
function endSettlement(
  view: PayoutView,
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
  const isSubmitted = settlement.status === "SUBMITTED_TO_LEDGER" || status === "FAILED";
  const steps: Steps = isSubmitted ? [status] : ["SUBMITTED_TO_LEDGER", status];
  return [moveSettlement(settlement, steps, reason, at)];
}

/** Time, reason and ids of a refund. */
interface RefundStamp extends EndIds {
  readonly at: number;
  readonly reason: string;
  /** The failed transaction, where one was included in a block. */
  readonly txid?: string | null;
  readonly height?: number | null;
}

/** A payout's account and statement line before its end. */
export interface PayoutView {
  readonly state: MerchantView["state"];
  readonly records: Pick<MerchantView["records"], "transactions" | "settlements">;
}

function payoutLine(view: PayoutView, withdrawal: WithdrawalRow): TransactionRow {
  return lineOf(view.records, withdrawal, "change a withdrawal");
}

/**
 * The records of a withdrawal that failed: its money back, its settlement ended.
 *
 * @param settlementReason as the settlement shows it, where that is another
 */
export function failPayout(
  view: PayoutView,
  withdrawal: WithdrawalRow,
  stamp: RefundStamp,
  from: "queued" | "dead" | "final",
  settlementReason: string | null = stamp.reason,
): Partial<Decision> {
  const at = timeOf(view.state, stamp.at);
  return {
    ...refund(view, withdrawal, stamp, from),
    settlements: endSettlement(view, withdrawal, "FAILED", settlementReason, at),
  };
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
  view: PayoutView,
  withdrawal: WithdrawalRow,
  { reason, txid = null, height = null, chargeIds, eventIds, ...stamp }: RefundStamp,
  from: "queued" | "dead" | "final" | null,
): Partial<Decision> & Pick<Decision, "postings" | "charges" | "margins"> {
  const { state } = view;
  const at = timeOf(state, stamp.at);
  const { id, merchantId, amount, networkFee } = withdrawal;
  const commission = add(withdrawal.baseFee, withdrawal.markupAmount);
  const status = from === null ? "CANCELLED" : "FAILED";
  const margin = clawBackMargin(withdrawal, commission, at);
  const to = "available";
  const postings = [
    ...post(withdrawal, { leg: "refund", from: "reserved", to, amount }),
    ...margin.postings,
    ...post(withdrawal, { leg: "commission_refund", from: "commission", to, amount: commission }),
    ...post(withdrawal, { leg: "network_fee_refund", from: "network_fee", to, amount: networkFee }),
  ];
  const before = payoutLine(view, withdrawal);
  const line: TransactionRow = { ...before, status, effect: ZERO, txid, height };
  return {
    postings,
    withdrawals: [{ ...withdrawal, status, reason, txid, processedAt: at }],
    transactions: [line],
    charges: chargesOf(state, withdrawal, [
      { type: "REVERSAL", amount: negate(commission), id: chargeIds[0] },
      { type: "REVERSAL", amount: negate(networkFee), id: chargeIds[1] },
    ], at),
    margins: margin.rows,
    voided: from === null || from === "final"
      ? []
      : [{ id: withdrawal.outgoingId, merchantId, fromStatus: from, reason }],
    // settlements are read, not called back
    events: withdrawal.settlementId !== null ? [] : endEvents(state, {
      ids: eventIds,
      type: "withdrawal.failed",
      payload: (eventId) =>
        withdrawalFailedPayload({
          eventId,
          withdrawalId: id,
          amount,
          currency: withdrawal.currency,
          network: withdrawal.network,
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
  const history = [{ status: "PENDING", at: new Date(at).toISOString() }] as const;
  const made = { status: "PENDING", reason: null, createdAt: at, updatedAt: at, history } as const;
  return moveSettlement({ ...row, ...made }, steps, null, at);
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
  const history = [...settlement.history];
  for (const step of steps) {
    checkMove("settlement", settlement.id, status, step);
    status = step;
    history.push({ status, at: new Date(at).toISOString() });
  }
  return { ...settlement, status, reason, updatedAt: at, history };
}
