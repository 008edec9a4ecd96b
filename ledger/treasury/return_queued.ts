import type { Sql } from "postgres";

/**
 * Gives leased transfers back to the queue with the reason they wait for, which the operator sees.
 *
 * @param retryMs how long they are left alone, by the database's clock
 */
export async function returnQueued(
  sql: Sql,
  outgoingIds: readonly string[],
  reason: string,
  retryMs: number,
): Promise<void> {
  if (outgoingIds.length === 0) return;
  await sql`
    UPDATE book.outgoing
    SET lease_until = now() + make_interval(secs => ${
    retryMs / 1_000
  }), reason = ${reason}, updated_at = now()
    WHERE id = ANY (${[...outgoingIds]}::text[]) AND status = 'queued'`;
}
