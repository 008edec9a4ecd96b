/**
 * Body of `withdrawal.failed`.
 *
 * @module
 */

import { type Amount, formatAmount } from "../../ledger/money/amount.ts";
import type { Currency } from "../../ledger/money/pair.ts";

/** What the body is made of. */
export interface WithdrawalFailed {
  readonly eventId: string;
  readonly withdrawalId: string;
  readonly amount: Amount;
  readonly currency: Currency;
  readonly reason: string;
  /** The transaction that failed on chain, null where none was ever included. */
  readonly txHash: string | null;
  readonly referenceId: string | null;
  /** Where the payout was to go. */
  readonly address: string;
}

/** JSON text of the event, its keys in the order of the interface description. */
export function withdrawalFailedPayload(withdrawal: WithdrawalFailed): string {
  return JSON.stringify({
    type: "withdrawal",
    withdrawalId: withdrawal.withdrawalId,
    amount: formatAmount(withdrawal.amount),
    currency: withdrawal.currency,
    status: "failed",
    reason: withdrawal.reason,
    txHash: withdrawal.txHash,
    referenceId: withdrawal.referenceId,
    address: withdrawal.address,
    identifier: withdrawal.referenceId,
    eventId: withdrawal.eventId,
  });
}
