/**
 * Body of `deposit.failed`.
 *
 * @module
 */

import { type Amount, formatAmount } from "../../ledger/money/amount.ts";
import type { Currency } from "../../ledger/money/pair.ts";

/** What the body is made of. */
export interface DepositFailed {
  readonly eventId: string;
  readonly depositId: string;
  readonly amount: Amount;
  readonly currency: Currency;
  /** As stored: `<merchant_id>_<identifier>`; null for a top-up or a manual deposit. */
  readonly identifier: string | null;
  readonly reason: string;
  readonly txHash: string | null;
  readonly address: string | null;
}

/** JSON text of the event, its keys in the order of the interface description. */
export function depositFailedPayload(deposit: DepositFailed): string {
  return JSON.stringify({
    type: "deposit",
    depositId: deposit.depositId,
    amount: formatAmount(deposit.amount),
    currency: deposit.currency,
    identifier: deposit.identifier,
    status: "failed",
    reason: deposit.reason,
    txHash: deposit.txHash,
    address: deposit.address,
    eventId: deposit.eventId,
  });
}
