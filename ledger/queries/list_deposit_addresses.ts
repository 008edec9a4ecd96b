import type { Sql } from "../database/connect.ts";
import type { Network } from "../pair.ts";
import { type DepositAddressRow, depositAddressTable } from "../rows.ts";
import { type AddressDeposit, newestDeposits } from "./newest_deposits.ts";

/** An issued address with its newest deposits. */
export interface ListedAddress extends DepositAddressRow {
  readonly deposits: readonly AddressDeposit[];
}

/**
 * Addresses issued by a merchant, newest first.
 *
 * @param network null: of every network
 * @param offset how many of the newest are passed over
 * @param limit how many are read
 */
export async function listDepositAddresses(
  sql: Sql,
  merchantId: string,
  network: Network | null,
  offset: number,
  limit: number,
): Promise<readonly ListedAddress[]> {
  const rows = await sql`
    SELECT x.* FROM book.deposit_address x
    WHERE x.merchant_id = ${merchantId} AND x.kind = 'issued'
      ${network === null ? sql`` : sql`AND x.network = ${network}`}
    ORDER BY x.id DESC OFFSET ${offset} LIMIT ${limit}`;
  const addresses = rows.map((row) => depositAddressTable.decode(row));
  const deposits = await newestDeposits(sql, merchantId, addresses.map(({ id }) => id));
  return addresses.map((address) => ({ ...address, deposits: deposits.get(address.id) ?? [] }));
}
