import type { Sql } from "../database/connect.ts";
import { balancesAndEntries } from "./balances_and_entries.ts";
import { chargesAndDays } from "./charges_and_days.ts";
import type { BookCheck, Difference } from "./difference.ts";
import { listsAndCounts } from "./lists_and_counts.ts";
import { listsAndNumbers } from "./lists_and_numbers.ts";
import { marginsAndDays } from "./margins_and_days.ts";
import { openPaymentsAndBalances } from "./open_payments_and_balances.ts";
import { pairsSumToZero } from "./pairs_sum_to_zero.ts";
import { statementsAndBalances } from "./statements_and_balances.ts";
import { systemBalancesAndEntries } from "./system_balances_and_entries.ts";
import { transfersAndDeposits } from "./transfers_and_deposits.ts";
import { withdrawalsAndPayouts } from "./withdrawals_and_payouts.ts";

/** One comparison of the books with themselves. */
export interface BookResult {
  /** What should hold, as a sentence. */
  readonly rule: string;
  /** Empty: it holds. */
  readonly differences: readonly Difference[];
}

const CHECKS: readonly (readonly [string, BookCheck])[] = [
  ["balances are the sums of their entries", balancesAndEntries],
  ["the house's balances are the sums of all entries", systemBalancesAndEntries],
  ["every pair sums to zero", pairsSumToZero],
  ["statements add up to what is available", statementsAndBalances],
  ["reserved and pending are what open payments need", openPaymentsAndBalances],
  ["withdrawals and their payouts tell the same story", withdrawalsAndPayouts],
  ["every final transfer is booked", transfersAndDeposits],
  ["kept counts and sums are those of the lists", listsAndCounts],
  ["lists are numbered without gaps", listsAndNumbers],
  ["charges per day are those of the charges", chargesAndDays],
  ["margins per day are those of the margins", marginsAndDays],
];

/**
 * Compares the books with themselves, as of one instant; may run beside a working service.
 *
 * @param sql a pool without a short limit on the time of a statement: everything is read
 */
export async function checkBooks(sql: Sql): Promise<readonly BookResult[]> {
  return await sql.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY", async (tx) => {
    const results: BookResult[] = [];
    for (const [rule, check] of CHECKS) results.push({ rule, differences: await check(tx) });
    return results;
  });
}
