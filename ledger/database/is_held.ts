import postgres from "postgres";

/** A table whose rows belong to all merchants, as the server names it in the context of an error. */
const SHARED = "book.system_balance";

/**
 * True for an error of a statement that waited too long for a row that another transaction locks
 * (`lock_not_available`), or was given up as it worked too long (`query_canceled`): one row or one
 * merchant is to blame for it, not the server. A row that all merchants share blames none of them.
 */
export function isHeld(error: unknown): boolean {
  return error instanceof postgres.PostgresError &&
    (error.code === "55P03" || error.code === "57014") &&
    error.where?.includes(SHARED) !== true;
}
