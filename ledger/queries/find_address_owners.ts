import type { Sql } from "../database/connect.ts";
import type { Network } from "../pair.ts";

/** For whom an address was handed out. */
export interface AddressOwner {
  readonly network: Network;
  /** A merchant, or `LOST_ACCOUNT`. */
  readonly merchantId: string;
}

/**
 * For whom the given addresses were handed out by this service, on whatever network.
 *
 * @returns the owners by address, one for each of its networks; addresses of others are absent
 */
export async function findAddressOwners(
  sql: Sql,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, readonly AddressOwner[]>> {
  const rows = await sql<(AddressOwner & { readonly address: string })[]>`
    SELECT a.address, a.network, a.merchant_id AS "merchantId" FROM hub.address a
    WHERE a.address = ANY (${[...addresses]}::text[])`;
  return Map.groupBy(rows, ({ address }) => address);
}
