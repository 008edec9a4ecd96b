/**
 * Body of `transaction.confirmed` and `transaction.failed`.
 *
 * @module
 */

import { type Amount, formatAmount } from "../../ledger/money/amount.ts";
import type { Currency, Network } from "../../ledger/money/pair.ts";

/** What the body is made of. */
export interface TransactionSettled {
  readonly eventId: string;
  readonly transactionId: string;
  readonly transactionType: "DEPOSIT" | "WITHDRAWAL";
  /** Effect on the available balance: negative for money out. */
  readonly amount: Amount;
  readonly fee: Amount;
  readonly currency: Currency;
  readonly network: Network;
  readonly status: "confirmed" | "failed";
  readonly txHash: string | null;
  readonly referenceId: string | null;
  /** Available balance of the pair right after this change, null where it is not known. */
  readonly balanceAfter: Amount | null;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

/** JSON text of the event. */
export function transactionSettledPayload(transaction: TransactionSettled): string {
  return JSON.stringify({
    type: "transaction",
    transactionId: transaction.transactionId,
    transactionType: transaction.transactionType,
    amount: formatAmount(transaction.amount),
    fee: formatAmount(transaction.fee),
    currency: transaction.currency,
    network: transaction.network,
    status: transaction.status,
    txHash: transaction.txHash,
    referenceId: transaction.referenceId,
    balanceAfter: transaction.balanceAfter === null ? null : formatAmount(transaction.balanceAfter),
    createdAt: new Date(transaction.createdAt).toISOString(),
    eventId: transaction.eventId,
  });
}
