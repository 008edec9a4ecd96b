/**
 * Errors of the batch's write that only some of its messages can be to blame for.
 *
 * @module
 */

import postgres from "postgres";
import { isRowLocked } from "../database/database_errors.ts";

const UNIQUE_VIOLATION = "23505";

/**
 * Unique keys that two batches, or two merchants of one, can reach for at once: the id of an upstream
 * event, a payment out of another wallet, the transaction that a deposit by hand names, and a
 * withdrawal's reference.
 */
const CLAIMED_KEYS = new Set([
  "ingested_pkey",
  "ingested_payment",
  "deposit_by_hand",
  "withdrawal_reference",
]);

/**
 * True where a write was rolled back because a unique key was taken after its records were read.
 * Decided again, the second one is refused.
 */
export function isTakenMeanwhile(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === UNIQUE_VIOLATION &&
    CLAIMED_KEYS.has(error.constraint_name ?? "");
}

/** Code that the trigger on declined withdrawals raises while signing is stopped for their network. */
const DECLINE_STOPPED = "SD003";

/**
 * True where a write was rolled back because a withdrawal that waits for approval was turned down while signing is
 * stopped: it may be approved and paid in a history that the database has lost.
 */
export function isDeclineStopped(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === DECLINE_STOPPED;
}

/**
 * Reasons of the database to refuse a write that an audited command is in. `same_administrator`: another person
 * has to decide; `second_administrator`: one alone may not, and it is not endorsed yet; `locked`: another
 * transaction locks a row that all audited commands need, and no other message does.
 */
export type AuditedRefusal = "same_administrator" | "second_administrator" | "locked";

/** Codes that the triggers on approvals raise (ledger/migrations). */
const RULES: Readonly<Record<string, AuditedRefusal>> = {
  SD001: "same_administrator",
  SD002: "second_administrator",
};
/** The functions that lock such a row, as the server names them in the context of an error. */
const LOCKING = ["hub.chain_audit()", "book.check_confirmed_by_hand()"];

/** The refusal that only audited commands can be to blame for; null for any other error of a write. */
export function auditedRefusal(error: unknown): AuditedRefusal | null {
  if (!(error instanceof postgres.PostgresError)) return null;
  if (!isRowLocked(error)) return RULES[error.code] ?? null;
  return LOCKING.some((name) => error.where?.includes(name)) ? "locked" : null;
}
