import type { SettlementRow, TransactionRow, WithdrawalRow } from "../../../ledger/rows.ts";
import { withdrawalConfirmedPayload } from "../../../webhooks/payloads/withdrawal_confirmed.ts";
import { type Decision, post } from "../decision.ts";
import type { EventIds } from "../messages.ts";
import type { MerchantState, MerchantView } from "../state.ts";
import { endEvents } from "./end_events.ts";
import { payMargin } from "./margin.ts";
import { moveSettlement } from "./settlement_steps.ts";

/** The transaction that paid a withdrawal, from a solid block. */
export interface PaidBy {
  readonly txid: string;
  readonly height: number | null;
  readonly eventIds: EventIds;
}

/**
 * A paid withdrawal's records: the reserve is spent, the margin due, the merchant told.
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
  // its end may be told before its submission was
  const isTold = settlement.status === "SUBMITTED_TO_LEDGER";
  return status === "COMPLETED" && !isTold
    ? [moveSettlement(settlement, ["SUBMITTED_TO_LEDGER", status], reason, at)]
    : [moveSettlement(settlement, [status], reason, at)];
}
