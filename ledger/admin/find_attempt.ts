import type { Sql } from "../database/connect.ts";
import type { Network } from "../pair.ts";

/**
 * Which transfer of ours a transaction carries; `null`: it is none of ours. A transaction of ours is
 * kept before it is first sent, so whatever is on the chain and not kept is somebody else's.
 */
export async function findAttempt(
  sql: Sql,
  network: Network,
  txid: string,
): Promise<string | null> {
  const [row] = await sql<{ outgoing_id: string }[]>`
    SELECT outgoing_id FROM book.attempt WHERE txid = ${txid} AND network = ${network}`;
  return row?.outgoing_id ?? null;
}
