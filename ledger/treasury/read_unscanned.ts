import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";

/**
 * Transfers whose transaction expired and that were signed before the first block of an unbroken
 * scan: a block that nobody read may hold them.
 *
 * @param previousTime of the solid cursor, Unix milliseconds
 * @param scannedFrom the lowest block from which on all up to the cursor were read
 * @returns outgoing ids, oldest first
 */
export async function readUnscanned(
  sql: Sql,
  network: Network,
  previousTime: number,
  scannedFrom: number,
  limit: number,
): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT o.id FROM book.outgoing o
    JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome IS NULL
    WHERE o.network = ${network} AND o.status = 'signed' AND a.expires_at < ${new Date(
    previousTime,
  )} AND a.since_height + 1 < ${scannedFrom}
    ORDER BY o.id LIMIT ${limit}`;
  return rows.map((row) => row.id);
}
