import type { DepositRow, TransactionRow } from "../../../ledger/rows.ts";
import type { Decision } from "../decision.ts";
import type { TransferFact } from "../facts.ts";
import { pendingPosting } from "./see_transfer.ts";

/**
 * A top-up whose transfer is final. It stays pending, because only the sweep that carries it to the
 * master wallet makes it available; having no expiry any more says that it cannot be given up. One
 * that was given up for dead stays so until its sweep confirms it, with money from the chain.
 *
 * @param isNew whether nothing was booked for it yet
 */
export function holdTopUp(
  deposit: DepositRow,
  line: TransactionRow,
  fact: TransferFact,
  isNew: boolean,
  at: number,
): Partial<Decision> {
  if (!isNew && deposit.expiresAt === null) return {};
  const { height } = fact;
  return {
    postings: isNew ? pendingPosting(deposit) : [],
    deposits: [{ ...deposit, expiresAt: null, height, updatedAt: at }],
    transactions: [{ ...line, height }],
  };
}
