import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";

/** Counts the signed transactions of a network that have no outcome yet. */
export async function countInFlight(sql: Sql, network: Network): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::int AS count FROM book.outgoing WHERE network = ${network} AND status = 'signed'`;
  return row?.count ?? 0;
}
