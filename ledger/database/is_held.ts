import postgres from "postgres";

/**
 * True for an error of a statement that waited too long for a row that another transaction locks
 * (`lock_not_available`), or was given up as it worked too long (`query_canceled`): one row or one
 * merchant is to blame for it, not the server.
 */
export function isHeld(error: unknown): boolean {
  return error instanceof postgres.PostgresError &&
    (error.code === "55P03" || error.code === "57014");
}
