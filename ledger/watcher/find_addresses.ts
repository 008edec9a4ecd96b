import type { Sql } from "postgres";
import type { Network } from "../pair.ts";

/** Whose an address is. */
export interface AddressOwner {
  readonly address: string;
  readonly merchantId: string;
  readonly addressId: string;
}

/**
 * Which of the given addresses are ours. One query whatever their number, by primary key, so that
 * the number of issued addresses does not matter. Thousands are sent as one text: to quote each of
 * them for an array costs the service three times as much. No network's address holds a comma.
 */
export async function findAddresses(
  sql: Sql,
  network: Network,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, AddressOwner>> {
  if (addresses.length === 0) return new Map();
  const rows = await sql<AddressOwner[]>`
    SELECT address, merchant_id AS "merchantId", address_id AS "addressId"
    FROM hub.address WHERE network = ${network} AND address = ANY (string_to_array(${
    addresses.join(",")
  }, ','))`;
  return new Map(rows.map((row) => [row.address, row]));
}
