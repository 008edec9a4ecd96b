import { add, type Amount, formatAmount, negate, ZERO } from "../../ledger/money/amount.ts";
import type { Balance } from "../../ledger/journal/read_accounts.ts";
import { pairKey } from "../../ledger/money/pair.ts";
import type { Account } from "../../ledger/rows.ts";
import type { Decision } from "./decision.ts";
import type { MerchantState } from "./state.ts";

const EMPTY: Balance = { available: ZERO, pending: ZERO, reserved: ZERO };

/**
 * The account after a decision. The database derives the same balances from the same postings.
 *
 * @throws when a balance would fall below zero or a list number is not the next one: the decision
 *   broke an assumption
 */
export function apply(state: MerchantState, decision: Decision): MerchantState {
  const balances = decision.postings.length === 0 ? state.balances : new Map(state.balances);
  for (const posting of decision.postings) {
    const key = pairKey(posting.currency, posting.network);
    let balance = (balances as Map<typeof key, Balance>).get(key) ?? EMPTY;
    balance = shift(balance, posting.from, negate(posting.amount));
    balance = shift(balance, posting.to, posting.amount);
    (balances as Map<typeof key, Balance>).set(key, balance);
  }
  for (const [key, balance] of balances) {
    const lowest = [balance.available, balance.pending, balance.reserved].find((held) => held < 0n);
    if (lowest !== undefined) {
      throw new Error(
        `Cannot apply a decision as a balance of ${key} would be negative: ${formatAmount(lowest)}`,
      );
    }
  }
  return {
    ...state,
    merchant: decision.profile ?? state.merchant,
    balances,
    depositSeq: next(state.depositSeq, decision.deposits.map((row) => row.seq)),
    withdrawalSeq: next(state.withdrawalSeq, decision.withdrawals.map((row) => row.seq)),
    transactionSeq: next(state.transactionSeq, decision.transactions.map((row) => row.seq)),
    settlementSeq: next(state.settlementSeq, decision.settlements.map((row) => row.seq)),
    chargeSeq: next(state.chargeSeq, decision.charges.map((row) => row.seq)),
    lastAt: decision.at,
  };
}

function shift(balance: Balance, account: Account, by: Amount): Balance {
  switch (account) {
    case "available":
      return { ...balance, available: add(balance.available, by) };
    case "pending":
      return { ...balance, pending: add(balance.pending, by) };
    case "reserved":
      return { ...balance, reserved: add(balance.reserved, by) };
    case "world":
    case "commission":
    case "network_fee":
    case "activation_fee":
    case "direct_deposit_fee":
    case "margin_held":
    case "margin_due":
      return balance;
    default: {
      const never: never = account;
      return never;
    }
  }
}

function next(current: number, numbers: readonly (number | null)[]): number {
  let last = current;
  for (const number of numbers) {
    if (number === null || number <= current) continue;
    if (number !== last + 1) {
      throw new Error(`Cannot number a row as numbers have no gaps: ${number} after ${last}`);
    }
    last = number;
  }
  return last;
}
