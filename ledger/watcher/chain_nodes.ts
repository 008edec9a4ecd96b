import type { Sql } from "../database/connect.ts";
import type { Network } from "../money/pair.ts";

/**
 * Identifies the chain of a network: stores the id of its first block when there is none yet.
 *
 * @param found answered by nodes, `null` when none has answered
 * @returns the stored id; it counts, whatever was found
 */
export async function storeGenesis(
  sql: Sql,
  network: Network,
  found: string | null,
): Promise<string | null> {
  if (found !== null) {
    await sql`
      INSERT INTO hub.chain (network, genesis) VALUES (${network}, ${found})
      ON CONFLICT DO NOTHING`;
  }
  const [row] = await sql<{ genesis: string }[]>`
    SELECT genesis FROM hub.chain WHERE network = ${network}`;
  return row?.genesis ?? null;
}

/**
 * Adds calls to a node's count of a day; counts older than a month go.
 *
 * @param day `YYYY-MM-DD`, UTC
 * @param calls made since the last time; 0 only reads
 * @returns the day's count of all services together
 */
export async function addNodeCalls(
  sql: Sql,
  network: Network,
  node: string,
  day: string,
  calls: number,
): Promise<number> {
  const [row] = await sql<{ calls: string }[]>`
    WITH old AS (
      DELETE FROM hub.node_calls
      WHERE network = ${network} AND node = ${node} AND day < ${day}::date - 31
    )
    INSERT INTO hub.node_calls AS c (network, node, day, calls)
    VALUES (${network}, ${node}, ${day}, ${calls})
    ON CONFLICT (network, node, day) DO UPDATE SET calls = c.calls + excluded.calls
    RETURNING calls`;
  return Number(row?.calls ?? 0);
}
