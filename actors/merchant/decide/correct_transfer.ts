import type { DepositRow, TransactionRow } from "../../../ledger/rows.ts";
import { post, type Posting } from "../decision.ts";
import type { TransferFact } from "../facts.ts";

/** A deposit as its transfer became final. */
export interface CorrectedDeposit {
  readonly deposit: DepositRow;
  readonly line: TransactionRow;
  /** What makes pending agree; nothing where nothing was pending, or nothing has changed. */
  readonly corrections: readonly Posting[];
}

/**
 * Puts a deposit right whose transfer is final with other details than it was seen with. A contract
 * (an exchange that pays out to the address) runs again in the block that replaces the first one,
 * and may then pay another amount under the same transaction and log index.
 */
export function correctTransfer(
  deposit: DepositRow,
  line: TransactionRow,
  fact: TransferFact,
): CorrectedDeposit {
  const { currency, amount, from: sender } = fact;
  if (deposit.amount === amount && deposit.currency === currency) {
    return { deposit, line, corrections: [] };
  }
  const { id: paymentId, network } = deposit;
  const corrections = deposit.status !== "PENDING" ? [] : [
    ...post({
      paymentId,
      leg: "seen_wrong",
      from: "pending",
      to: "world",
      currency: deposit.currency,
      network,
      amount: deposit.amount,
    }),
    ...post({
      paymentId,
      leg: "corrected",
      from: "world",
      to: "pending",
      currency,
      network,
      amount,
    }),
  ];
  return {
    deposit: { ...deposit, currency, amount, sender },
    line: { ...line, currency, fromAddress: sender },
    corrections,
  };
}
