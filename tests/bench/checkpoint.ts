/**
 * A checkpoint before a measurement, so that none that others' rows have made due falls into it.
 *
 * @module
 */

import type { Sql } from "../../ledger/database/connect.ts";

/**
 * Writes a checkpoint and waits for its end. Segments of the log that it sets free are used again, as on a server
 * that has run for a while. On a named server whose role may not ask for one nothing is done.
 *
 * @param sql any database of the server
 */
export async function checkpoint(sql: Sql): Promise<void> {
  const [role] = await sql<{ may: boolean }[]>`
    SELECT rolsuper AS may FROM pg_roles WHERE rolname = current_user`;
  if (role?.may === true) await sql`CHECKPOINT`;
}
