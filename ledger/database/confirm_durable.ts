import type { Sql } from "postgres";

/**
 * Makes sure that everything this server shows as committed survives it. A commit whose answer was
 * lost, or whose wait for the synchronous standby was cancelled, is seen by later reads although the
 * standby may lack it; a commit of one's own that is acknowledged comes after it in the log.
 *
 * @throws a connection error: it is not known
 */
export async function confirmDurable(sql: Sql): Promise<void> {
  await sql`SELECT pg_logical_emit_message(true, 'engine', 'durable')`;
}
