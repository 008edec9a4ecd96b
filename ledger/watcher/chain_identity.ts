import type { Sql } from "../database/connect.ts";
import type { Network } from "../money/pair.ts";

/**
 * Which chain a network is: keeps the id of its first block when there is none yet.
 *
 * @param found what nodes say, `null` when none has said
 * @returns what is kept; it counts, whatever was found
 */
export async function keepGenesis(
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
