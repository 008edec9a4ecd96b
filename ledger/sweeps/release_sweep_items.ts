import type { AnySql } from "../database/connect.ts";

/**
 * Gives the transfers of sweeps that were given up back to the planner. The schema refuses it for a
 * sweep that may still land.
 */
export async function releaseSweepItems(
  sql: AnySql,
  outgoingIds: readonly string[],
): Promise<void> {
  if (outgoingIds.length === 0) return;
  await sql`
    UPDATE book.sweep_item SET outgoing_id = NULL
    WHERE outgoing_id = ANY (${[...outgoingIds]}::text[]) AND NOT done`;
}
