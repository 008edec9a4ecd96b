/**
 * The moves of payments that a commit made durable: what is counted and logged of them.
 *
 * @module
 */

import { type Amount, formatAmount } from "../../ledger/money/amount.ts";
import type { Currency, Network } from "../../ledger/money/pair.ts";
import type { DepositStatus, WithdrawalStatus } from "../../ledger/money/transitions.ts";
import type { EventName } from "../../log/event_table.ts";
import { logEvent } from "../../log/log_event.ts";
import type { UnitOfWork } from "./unit_of_work.ts";

/** One payment that has reached another status. */
export interface PaymentMove {
  /** A payout of a settlement counts as a settlement. */
  readonly kind: "deposit" | "withdrawal" | "settlement";
  readonly id: string;
  readonly merchantId: string;
  readonly network: Network;
  readonly currency: Currency;
  readonly amount: Amount;
  readonly status: DepositStatus | WithdrawalStatus;
  readonly reason: string | null;
  readonly txid: string | null;
}

/** The moves of payments in one merchant's part of a batch. */
export function paymentMoves(
  unit: Pick<UnitOfWork, "changes" | "statusBefore">,
): readonly PaymentMove[] {
  const { openings, created, changed } = unit.changes();
  const moves: PaymentMove[] = openings.map(
    ({ id, merchantId, network, currency, amount }) => ({
      kind: "withdrawal",
      id,
      merchantId,
      network,
      currency,
      amount,
      status: "PENDING",
      reason: null,
      txid: null,
    }),
  );
  // a row changes for other reasons, too: a second node's word, another administrator
  const hasMoved = ({ id, status }: { readonly id: string; readonly status: string }) =>
    unit.statusBefore(id) !== status;
  for (const rows of [created, changed]) {
    for (const row of rows.withdrawals) {
      if (!hasMoved(row)) continue;
      const kind = row.settlementId === null ? "withdrawal" : "settlement";
      const { status, reason, txid } = row;
      moves.push({ ...keptOf(row), kind, status, reason, txid });
    }
    for (const row of rows.deposits) {
      if (!hasMoved(row)) continue;
      const { status, reason, txid } = row;
      moves.push({ ...keptOf(row), kind: "deposit", status, reason, txid });
    }
  }
  return moves;
}

type Kept = Pick<PaymentMove, "id" | "merchantId" | "network" | "currency" | "amount">;

function keptOf({ id, merchantId, network, currency, amount }: Kept): Kept {
  return { id, merchantId, network, currency, amount };
}

/** Logs a move that a person may ask for; that a payout was opened is in the books alone. */
export function logMove(move: PaymentMove): void {
  const { kind, id: payment, merchantId, network, currency, txid, reason, status } = move;
  const event = kind === "deposit" ? DEPOSIT_EVENTS[status] : PAYOUT_EVENTS[status];
  if (event === undefined) return;
  const amount = formatAmount(move.amount);
  const why = reason === null ? {} : { reason };
  const where = txid === null ? {} : { txid };
  logEvent(event, { kind, payment, merchantId, network, currency, amount, ...where, ...why });
}

type Events = Readonly<Partial<Record<PaymentMove["status"], EventName>>>;

const DEPOSIT_EVENTS: Events = {
  PENDING: "deposit.seen",
  CONFIRMED: "deposit.confirmed",
  FAILED: "deposit.failed",
};

const PAYOUT_EVENTS: Events = {
  PENDING_APPROVAL: "payout.approval",
  CONFIRMED: "payout.confirmed",
  FAILED: "payout.failed",
  CANCELLED: "payout.cancelled",
};

/** The number of moves of a kind, pair and status. */
export interface MoveCount extends Pick<PaymentMove, "kind" | "network" | "currency" | "status"> {
  count: number;
}

/** Counts moves since the start. */
export class MoveCounts {
  readonly #counts = new Map<string, MoveCount>();

  /** Counts one. */
  add({ kind, network, currency, status }: PaymentMove): void {
    const key = `${kind}/${network}/${currency}/${status}`;
    const known = this.#counts.get(key);
    if (known !== undefined) known.count++;
    else this.#counts.set(key, { kind, network, currency, status, count: 1 });
  }

  /** All counts that are not zero. */
  get all(): readonly Readonly<MoveCount>[] {
    return [...this.#counts.values()];
  }
}
