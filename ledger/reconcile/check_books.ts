import { logEvent } from "../../log/log_event.ts";
import { classifyDatabaseError } from "../database/database_errors.ts";
import type { Sql, TransactionSql } from "../database/connect.ts";
import { BALANCE_CHECKS } from "./compare_balances.ts";
import { LIST_CHECKS } from "./compare_lists.ts";
import { PAYMENT_CHECKS } from "./compare_payments.ts";
import type { BookCheck, Difference, ReconcileScope } from "./difference.ts";

/** PostgreSQL's code of a statement that was given up, for its bound on time among others. */
const QUERY_CANCELED = "57014";

/** Differences shown per check; more of them say nothing new. */
const MOST_DIFFERENCES = 100;

const CHECKS = [...BALANCE_CHECKS, ...PAYMENT_CHECKS, ...LIST_CHECKS];

/** One comparison of the books with themselves. */
export interface BookResult {
  /** The rule, as a sentence. */
  readonly rule: string;
  /** Empty: it holds. */
  readonly differences: readonly Difference[];
  /** Reason why it could not be compared; null: it was. */
  readonly unchecked: string | null;
}

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
    for (const check of CHECKS.filter(({ scopes }) => scopes.includes(scope))) {
      results.push(await bounded(tx, check));
    }
    return results;
  });
}

/** Compares one rule; where the server gives up for its length, or it breaks, the others go on. */
async function bounded(tx: TransactionSql, { rule, query }: BookCheck): Promise<BookResult> {
  try {
    const differences = await tx.savepoint((point) =>
      point<Difference[]>`
        SELECT * FROM (${query(point)}) difference ORDER BY 1 LIMIT ${MOST_DIFFERENCES}`
    );
    return { rule, differences: [...differences], unchecked: null };
  } catch (error) {
    const isGivenUp = error instanceof Error && "code" in error && error.code === QUERY_CANCELED;
    if (isGivenUp) {
      return { rule, differences: [], unchecked: "it takes longer than a statement may" };
    }
    // without its connection nothing of this snapshot can be read
    if (classifyDatabaseError(error) === "connection") throw error;
    logEvent("reconcile.books_rule_broke", { rule, error });
    const reason = error instanceof Error ? error.message : String(error);
    return { rule, differences: [], unchecked: `comparing broke: ${reason}` };
  }
}
