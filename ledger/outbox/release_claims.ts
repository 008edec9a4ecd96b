import type { Sql } from "../database/connect.ts";

/** Sessions of one node are told apart by what follows its name and this. */
const SEPARATOR = "/";

/** The session of a node, as its claims carry it. */
export function claimSession(node: string, session: string): string {
  return node + SEPARATOR + session;
}

/**
 * Frees what earlier sessions of a node still hold, so that a restart need not wait for leases to
 * run out. Only for a node that knows its earlier sessions to be dead.
 *
 * @returns merchants with something freed
 */
export async function releaseClaims(
  sql: Sql,
  node: string,
  session: string,
): Promise<readonly string[]> {
  const rows = await sql<{ merchant_id: string }[]>`
    WITH freed AS (
      UPDATE book.outbox o SET claimed_until = NULL
      WHERE o.status = 'PENDING' AND o.claimed_until > now()
        AND starts_with(o.claimed_by, ${node + SEPARATOR}) AND o.claimed_by <> ${
    claimSession(node, session)
  }
      RETURNING o.merchant_id)
    SELECT DISTINCT merchant_id FROM freed`;
  return rows.map((row) => row.merchant_id);
}
