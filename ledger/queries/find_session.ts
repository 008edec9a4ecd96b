import type { Sql } from "../database/connect.ts";
import { type SessionRow, sessionTable } from "./session_row.ts";

/**
 * The hosted payment page that a token opens.
 *
 * @param tokenHash SHA-256 of the token, 32 bytes
 * @returns null where no page has such a token
 */
export async function findSession(sql: Sql, tokenHash: Uint8Array): Promise<SessionRow | null> {
  const [row] = await sql`SELECT s.* FROM hub.session s WHERE s.token_hash = ${tokenHash}`;
  return row === undefined ? null : sessionTable.decode(row);
}
