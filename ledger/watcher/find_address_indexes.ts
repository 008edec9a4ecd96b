import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";

/** Derivation indexes of addresses that were handed out. */
export async function findAddressIndexes(
  sql: Sql,
  network: Network,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (addresses.length === 0) return new Map();
  const rows = await sql<{ address: string; wallet_index: number }[]>`
    SELECT address, wallet_index FROM hub.address
    WHERE network = ${network} AND address = ANY (${[...addresses]}::text[])`;
  return new Map(rows.map((row) => [row.address, row.wallet_index]));
}
