import type { Sql } from "postgres";

/**
 * Notes what signed transfers wait for although they have expired, so that the operator sees it.
 *
 * @param reasons by outgoing id
 * @returns the transfers whose reason is a new one
 */
export async function noteUnproven(
  sql: Sql,
  reasons: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  if (reasons.size === 0) return [];
  const rows = await sql<{ id: string }[]>`
    UPDATE book.outgoing o SET reason = n.reason, updated_at = now()
    FROM unnest(${[...reasons.keys()]}::text[], ${[...reasons.values()]}::text[]) AS n(id, reason)
    WHERE o.id = n.id AND o.status = 'signed' AND o.reason IS DISTINCT FROM n.reason
    RETURNING o.id`;
  return rows.map((row) => row.id);
}
