import type { Sql } from "../database/connect.ts";
import type { Network } from "../pair.ts";
import { type DepositAddressRow, depositAddressTable } from "../rows.ts";
import { type AddressDeposit, newestDeposits } from "./newest_deposits.ts";

/** An issued address with its newest deposits. */
export interface ListedAddress extends DepositAddressRow {
  readonly deposits: readonly AddressDeposit[];
}

/**
 * Addresses issued by a merchant, newest first. Those of all networks are found by their number,
 * wherever in the list they are.
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
  const rows = network === null
    ? await sql`
      SELECT x.* FROM (
        SELECT n.seq, n.address_id FROM book.address_number n
        WHERE n.merchant_id = ${merchantId} AND n.seq <= (
          SELECT max(m.seq) FROM book.address_number m WHERE m.merchant_id = ${merchantId}) - ${offset}::bigint
        ORDER BY n.seq DESC LIMIT ${limit} OFFSET 0) n
      JOIN book.deposit_address x ON x.id = n.address_id AND x.merchant_id = ${merchantId}
      ORDER BY n.seq DESC`
    : await sql`
      SELECT x.* FROM book.deposit_address x
      WHERE x.merchant_id = ${merchantId} AND x.kind = 'issued' AND x.network = ${network}
      ORDER BY x.id DESC OFFSET ${offset} LIMIT ${limit}`;
  const addresses = rows.map((row) => depositAddressTable.decode(row));
  const deposits = await newestDeposits(sql, merchantId, addresses.map(({ id }) => id));
  return addresses.map((address) => ({ ...address, deposits: deposits.get(address.id) ?? [] }));
}
