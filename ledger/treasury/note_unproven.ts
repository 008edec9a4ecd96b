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
    WITH locked AS (
      SELECT o.id, n.reason FROM book.outgoing o
      JOIN unnest(${[...reasons.keys()]}::text[], ${[...reasons.values()]}::text[]) AS n(id, reason)
        ON n.id = o.id
      WHERE o.status = 'signed' AND o.reason IS DISTINCT FROM n.reason
      -- what another session holds is noted at a later look
      ORDER BY o.id FOR NO KEY UPDATE OF o SKIP LOCKED
    )
    UPDATE book.outgoing o SET reason = l.reason, updated_at = now()
    FROM locked l WHERE o.id = l.id AND o.status = 'signed' RETURNING o.id`;
  return rows.map((row) => row.id);
}
