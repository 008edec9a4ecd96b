import postgres from "postgres";

/**
 * Codes of errors of a connection: of `npm:postgres` and of the streams that it is given. Whatever
 * was sent over such a connection may or may not have been committed.
 */
const CONNECTION_FAULTS = [
  "CONNECTION_CLOSED",
  "CONNECTION_DESTROYED",
  "CONNECTION_ENDED",
  "CONNECT_TIMEOUT",
  "SASL_SIGNATURE_MISMATCH",
  /** The server said nothing for longer than its own time-outs allow. */
  "SERVER_SILENT",
  /** TLS was not agreed on; a certificate that is not trusted counts. */
  "TLS_REFUSED",
  /** The server is no primary, or takes no writes. */
  "NOT_WRITABLE",
  /** The server's settings put what it acknowledges at risk. */
  "UNSAFE_SERVER",
  /** The wait for the synchronous standby was cancelled: what was committed may be lost yet. */
  "COMMIT_NOT_REPLICATED",
] as const;

/** One of {@linkcode CONNECTION_FAULTS}. */
export type ConnectionFaultCode = typeof CONNECTION_FAULTS[number];

/** Makes an error that counts as a lost connection. */
export function connectionFault(
  code: ConnectionFaultCode,
  why: string,
  cause?: unknown,
): Error & { readonly code: ConnectionFaultCode } {
  const error = new Error(`Cannot use the connection as ${why}`, { cause });
  return Object.assign(error, { code });
}

/**
 * Kinds of failed database calls, by what their caller may do.
 *
 * - `connection`: the connection was lost or never made. What was sent may or may not have been
 *   committed: look it up before anything is done again.
 * - `serialization`: rolled back because of other work at the same time; the same may be tried again.
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

/** True for an error of a statement that waited too long for a row that another transaction locks. */
export function isRowLocked(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === "55P03";
}

/**
 * True for an error of a statement that waited too long for a row that another transaction locks, or
 * was given up as it worked too long (`query_canceled`): one row or one merchant is to blame for it, not
 * the server.
 */
export function isLocked(error: unknown): boolean {
  return isRowLocked(error) || (error instanceof postgres.PostgresError && error.code === "57014");
}

/**
 * Classes of errors that what was sent can be to blame for: cardinality, data, constraints, limits
 * of size, and exceptions of the schema's own functions (PostgreSQL manual, appendix A).
 */
const BLAMES_WHAT_WAS_SENT = /^(21|22|23|54|P0)/;

/**
 * True if the server rolled a statement back for reasons of its own: a deadlock, a lock or a
 * statement that took too long, a full disk, a server that became read-only. The same statement may
 * succeed later, and nothing in it may be taken for broken because of this.
 */
export function isTransient(error: unknown): boolean {
  return error instanceof postgres.PostgresError &&
    classifyDatabaseError(error) !== "connection" && !BLAMES_WHAT_WAS_SENT.test(error.code);
}

/** True where the statement itself is to blame: neither the connection nor the server has reasons of its own. */
export function isToBlame(error: unknown): boolean {
  return classifyDatabaseError(error) !== "connection" && !isTransient(error);
}
