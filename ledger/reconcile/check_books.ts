import { getLogger } from "@logtape/logtape";
import { classifyDatabaseError } from "../database/classify_database_error.ts";
import type { Sql, TransactionSql } from "../database/connect.ts";
import {
  balancesAndEntries,
  marginsAndDays,
  openPaymentsAndBalances,
  pairsSumToZero,
  statementsAndBalances,
  systemBalancesAndEntries,
} from "./compare_balances.ts";
import {
  chunksAndBlocks,
  eventsAndCounts,
  listsAndCounts,
  listsAndNumbers,
} from "./compare_lists.ts";
import {
  newestDepositsAndEntries,
  newestWithdrawalsAndPayouts,
  scanGaps,
  sweepsAndDeposits,
  transfersAndDeposits,
  withdrawalsAndPayouts,
} from "./compare_payments.ts";
import type { BookCheck, Difference } from "./difference.ts";
import type { ReconcileScope } from "./reports.ts";

const log = getLogger(["engine", "reconcile"]);

/** PostgreSQL's code of a statement that was given up, for its bound on time among others. */
const QUERY_CANCELED = "57014";

/** One comparison of the books with themselves. */
export interface BookResult {
  /** The rule, as a sentence. */
  readonly rule: string;
  /** Empty: it holds. */
  readonly differences: readonly Difference[];
  /** Why it could not be compared. */
  readonly unchecked?: string;
}

/** Rules whose cost does not grow with the number of payments: of what is open, newest, or a sum. */
const QUICK: readonly (readonly [string, BookCheck])[] = [
  ["every pair sums to zero", pairsSumToZero],
  ["reserved and pending are what open payments need", openPaymentsAndBalances],
  ["the newest withdrawals and their payouts tell the same story", newestWithdrawalsAndPayouts],
  ["the newest deposits are what was posted for them", newestDepositsAndEntries],
  ["every solid block was read", scanGaps],
];

const CHECKS: readonly (readonly [string, BookCheck])[] = [
  ["balances are the sums of their entries", balancesAndEntries],
  ["the house's balances are the sums of all entries", systemBalancesAndEntries],
  ["every pair sums to zero", pairsSumToZero],
  ["statements add up to what is available", statementsAndBalances],
  ["reserved and pending are what open payments need", openPaymentsAndBalances],
  ["withdrawals and their payouts tell the same story", withdrawalsAndPayouts],
  ["every final transfer is booked", transfersAndDeposits],
  ["sweeps and what they carry tell the same story", sweepsAndDeposits],
  ["every solid block was read", scanGaps],
  ["kept counts and sums are those of the lists", listsAndCounts],
  ["sums of chunks are those of their blocks", chunksAndBlocks],
  ["kept counts of events are those of the events", eventsAndCounts],
  ["lists are numbered without gaps", listsAndNumbers],
  ["margins per day are those of the margins", marginsAndDays],
];

/**
 * Compares the books with themselves, as of one instant; may run beside a working service.
 *
 * @param sql a pool without a short limit on the time of a statement: everything is read
 */
export async function checkBooks(
  sql: Sql,
  scope: ReconcileScope = "full",
): Promise<readonly BookResult[]> {
  return await sql.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY", async (tx) => {
    const results: BookResult[] = [];
    for (const [rule, check] of scope === "full" ? CHECKS : QUICK) {
      results.push(await bounded(tx, rule, check));
    }
    return results;
  });
}

/** One rule; where the server gives up for its length, or it breaks, that is told and the others go on. */
async function bounded(tx: TransactionSql, rule: string, check: BookCheck): Promise<BookResult> {
  try {
    return { rule, differences: await tx.savepoint((point) => check(point)) };
  } catch (error) {
    const isGivenUp = error instanceof Error && "code" in error && error.code === QUERY_CANCELED;
    if (isGivenUp) {
      return { rule, differences: [], unchecked: "it takes longer than a statement may" };
    }
    // without its connection nothing of this snapshot can be read
    if (classifyDatabaseError(error) === "connection") throw error;
    log.error("comparing broke: {rule}: {error}", { rule, error });
    const reason = error instanceof Error ? error.message : String(error);
    return { rule, differences: [], unchecked: `comparing broke: ${reason}` };
  }
}
