import type { SettlementRow, TransactionRow, WithdrawalRow } from "../../../ledger/rows.ts";
import { withdrawalConfirmedPayload } from "../../../webhooks/payloads/withdrawal_confirmed.ts";
import { type Decision, post } from "../decision.ts";
import type { EventIds } from "../messages.ts";
import type { MerchantView } from "../state.ts";
import { endEvents } from "./end_events.ts";
import { payMargin } from "./margin.ts";
import { lineOf } from "./refund.ts";

/** The transaction that paid a withdrawal, from a solid block. */
export interface PaidBy {
  readonly txid: string;
  readonly height: number | null;
  readonly eventIds: EventIds;
}

/** A paid withdrawal's records: the reserve is spent, the margin due, the merchant told. */
export function confirmPayout(
  view: MerchantView,
  withdrawal: WithdrawalRow,
  { txid, height, eventIds }: PaidBy,
  at: number,
): Partial<Decision> {
  const { id, currency, network, amount } = withdrawal;
  const margin = payMargin(withdrawal, at);
  const paid = { paymentId: id, leg: "paid", from: "reserved", to: "world" } as const;
  const postings = [...post({ ...paid, currency, network, amount }), ...margin.postings];
  const line: TransactionRow = { ...lineOf(view, withdrawal), status: "CONFIRMED", txid, height };
  return {
    postings,
    inbox: margin.inbox,
    withdrawals: [{ ...withdrawal, status: "CONFIRMED", txid, processedAt: at }],
    transactions: [line],
    // settlements are read, not called back
    events: withdrawal.settlementId !== null ? [] : endEvents(view.state, {
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
  return [{ ...settlement, status, reason, updatedAt: at }];
}
