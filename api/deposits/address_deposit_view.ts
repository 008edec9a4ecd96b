import { formatAmount } from "../../ledger/money/amount.ts";
import type { AddressDeposit } from "../../ledger/deposits.ts";

/** A deposit as it is shown in the list of its address. */
export function addressDepositView(deposit: AddressDeposit) {
  return {
    id: deposit.id,
    amount: formatAmount(deposit.amount),
    currency: deposit.currency,
    status: deposit.status,
    createdAt: new Date(deposit.createdAt).toISOString(),
  };
}
