import type { Sql } from "postgres";
import { outgoingTable } from "../rows.ts";
import { OVER_CAP } from "../treasury/queue.ts";
import type { QueuedRow } from "../treasury/pull_queued.ts";

/** Transfers by their ids, as they are priced and signed. */
export async function readLaneRows(
  sql: Sql,
  outgoingIds: readonly string[],
): Promise<readonly QueuedRow[]> {
  const rows = await sql`
    SELECT * FROM book.outgoing WHERE id = ANY (${[...outgoingIds]}::text[]) ORDER BY id`;
  return rows.map((row) => ({ ...outgoingTable.decode(row), feePayer: row.fee_payer }));
}

/**
 * Stores what transfers wait for whose nonce is promised, so that the operator sees it.
 *
 * @param reasons by outgoing id
 * @returns the transfers whose reason is a new one
 */
export async function storeLaneReasons(
  sql: Sql,
  reasons: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  if (reasons.size === 0) return [];
  const rows = await sql<{ id: string }[]>`
    WITH locked AS (
      SELECT o.id, n.reason FROM book.outgoing o
      JOIN unnest(${[...reasons.keys()]}::text[], ${[...reasons.values()]}::text[]) AS n(id, reason)
        ON n.id = o.id
      WHERE o.nonce IS NOT NULL AND o.status IN ('queued', 'signed') AND o.reason IS DISTINCT FROM n.reason
        -- what waits for a person stays on the list of approvals
        AND (o.reason IS NULL OR o.reason NOT LIKE ${OVER_CAP})
      -- what another session holds gets it at a later poll
      ORDER BY o.id FOR NO KEY UPDATE OF o SKIP LOCKED
    )
    UPDATE book.outgoing o SET reason = l.reason, updated_at = now()
    FROM locked l WHERE o.id = l.id RETURNING o.id`;
  return rows.map(({ id }) => id);
}
