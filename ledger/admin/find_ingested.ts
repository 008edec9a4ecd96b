import type { Sql } from "../database/connect.ts";

/** SHA-256 of the body that an upstream event came with; `null` where it took no effect yet. */
export async function findIngested(sql: Sql, eventId: string): Promise<string | null> {
  const [row] = await sql<{ body_hash: string }[]>`
    SELECT body_hash FROM book.ingested WHERE event_id = ${eventId}`;
  return row?.body_hash ?? null;
}
