import postgres from "postgres";
import { CONNECTION_FAULTS } from "./connection_fault.ts";

/**
 * What a failed database call means for its caller.
 *
 * - `connection`: the connection was lost or never made. What was sent may or may not have been
 *   committed: look it up before anything is done again.
 * - `serialization`: rolled back because of others' work at the same time; the same may be tried again.
 * - `constraint`: rolled back because a rule of the schema was broken.
 * - `statement`: refused or rolled back for any other reason; nothing was committed.
 */
export type DatabaseErrorKind = "connection" | "serialization" | "constraint" | "statement";

const LOST: ReadonlySet<string> = new Set(CONNECTION_FAULTS);

/** Serialization failure, deadlock, lock not available (PostgreSQL manual, appendix A). */
const RACES = new Set(["40001", "40P01", "55P03"]);

/**
 * Sorts an error that a database call threw.
 *
 * @param error anything that was caught
 * @returns its kind; errors that never reached a connection are `statement`
 */
export function classifyDatabaseError(error: unknown): DatabaseErrorKind {
  if (error instanceof postgres.PostgresError) {
    // FATAL and PANIC end the session: also while a COMMIT waits for its answer.
    if (isFatal(error) || /^(08|57P)/.test(error.code)) return "connection";
    if (RACES.has(error.code)) return "serialization";
    return error.code.startsWith("23") ? "constraint" : "statement";
  }
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (LOST.has(code) || /^E[A-Z_]+$/.test(code)) return "connection";
  return "statement";
}

function isFatal(error: postgres.PostgresError): boolean {
  const severity = error.severity || error.severity_local;
  return severity === "FATAL" || severity === "PANIC";
}
