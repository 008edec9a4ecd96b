import { formatAmount } from "../../ledger/money/amount.ts";
import type { DepositStatus } from "../../ledger/money/transitions.ts";
import type { SessionPayment, SessionRow } from "../../ledger/sessions.ts";
import { formatQuote } from "../../rates/quote.ts";
import { progressOf } from "./page_state.ts";

/** What the customer is told of a deposit's status. */
const PAYMENT_STATUS = {
  PENDING: "received",
  CONFIRMED: "completed",
  FAILED: "failed",
  CANCELLED: "failed",
} as const satisfies Record<DepositStatus, string>;

/** How a hosted payment stands, as the interface tells it. */
export function statusView(
  session: Pick<SessionRow, "amount" | "currency" | "network" | "requestedAmount">,
  payment: SessionPayment | null,
) {
  if (payment === null) return { status: "waiting" } as const;
  const { seen, credited, missing } = progressOf(session, payment);
  return {
    status: PAYMENT_STATUS[payment.deposit.status],
    deposit: depositView(payment.deposit),
    progress: {
      currency: session.currency,
      amount: session.amount === null ? null : formatQuote(session.amount),
      received: formatAmount(seen),
      credited: formatAmount(credited),
      missing: missing === null ? null : formatAmount(missing),
    },
  };
}

function depositView(deposit: SessionPayment["deposit"]) {
  return {
    amount: formatAmount(deposit.amount),
    currency: deposit.currency,
    txHash: deposit.txid,
    receivedAt: new Date(deposit.createdAt).toISOString(),
    creditedAt: deposit.clearedAt === null ? null : new Date(deposit.clearedAt).toISOString(),
  };
}
