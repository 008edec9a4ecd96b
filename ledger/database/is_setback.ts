import postgres from "postgres";
import { classifyDatabaseError } from "./classify_database_error.ts";

/**
 * Classes of errors that what was sent can be to blame for: cardinality, data, constraints, limits
 * of size, and exceptions of our own functions (PostgreSQL manual, appendix A).
 */
const BLAMES_WHAT_WAS_SENT = /^(21|22|23|54|P0)/;

/**
 * Whether the server rolled a statement back for reasons of its own: a deadlock, a lock or a
 * statement that took too long, a full disk, a server that became read-only. The same statement may
 * succeed later, and nothing in it may be taken for broken because of this.
 */
export function isSetback(error: unknown): boolean {
  return error instanceof postgres.PostgresError &&
    classifyDatabaseError(error) !== "connection" && !BLAMES_WHAT_WAS_SENT.test(error.code);
}
