import type { Sql } from "../database/connect.ts";
import type { Network } from "../pair.ts";

/** An address that an end customer already has. */
export interface IssuedAddress {
  readonly addressId: string;
  readonly address: string;
  readonly index: number;
}

/**
 * The address issued for an end customer.
 *
 * @param identifier the merchant's own identifier of the customer, without the merchant id
 * @returns null where none was issued yet
 */
export async function findDepositAddress(
  sql: Sql,
  merchantId: string,
  network: Network,
  identifier: string,
): Promise<IssuedAddress | null> {
  const [row] = await sql<{ id: string; address: string; wallet_index: number }[]>`
    SELECT a.id, a.address, a.wallet_index FROM book.deposit_address a
    WHERE a.merchant_id = ${merchantId} AND a.network = ${network}
      AND a.identifier = ${identifier} AND a.kind = 'issued'`;
  return row === undefined
    ? null
    : { addressId: row.id, address: row.address, index: row.wallet_index };
}
