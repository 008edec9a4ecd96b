import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";

/** When the oldest transfer was queued that is not signed yet, Unix milliseconds; null: none. */
export async function readOldestQueued(sql: Sql, network: Network): Promise<number | null> {
  const [row] = await sql<{ created_at: Date }[]>`
    SELECT created_at FROM book.outgoing WHERE network = ${network} AND status = 'queued'
    ORDER BY id LIMIT 1`;
  return row?.created_at.getTime() ?? null;
}
