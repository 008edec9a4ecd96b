import type { Sql } from "../database/connect.ts";

/**
 * Which of the given addresses were handed out by this service, on whatever network.
 *
 * @returns the addresses that are ours
 */
export async function findOwnAddresses(
  sql: Sql,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, true>> {
  const rows = await sql<{ address: string }[]>`
    SELECT DISTINCT a.address FROM hub.address a
    WHERE a.address = ANY (${[...addresses]}::text[])`;
  return new Map(rows.map((row) => [row.address, true]));
}
