import type { Sql } from "./database/connect.ts";
import { type AddressDeposit, newestDeposits } from "./deposits.ts";
import type { Page, PageRequest } from "./lists/list_page.ts";
import type { Network } from "./money/pair.ts";
import { type DepositAddressRow, depositAddressTable } from "./rows.ts";

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

/** A merchant's top-up address. */
export interface TopUpAddress {
  readonly network: Network;
  readonly address: string;
  readonly walletIndex: number;
}

/** The merchant's own top-up address on a network; null where none was handed out yet. */
export async function findTopUpAddress(
  sql: Sql,
  merchantId: string,
  network: Network,
): Promise<TopUpAddress | null> {
  const [row] = await sql<TopUpAddress[]>`
    SELECT a.address, a.network, a.wallet_index AS "walletIndex" FROM book.deposit_address a
    WHERE a.merchant_id = ${merchantId} AND a.network = ${network} AND a.kind = 'top_up'`;
  return row ?? null;
}

/** An issued address with its newest deposits. */
export interface ListedAddress extends DepositAddressRow {
  readonly deposits: readonly AddressDeposit[];
}

/**
 * One page of the addresses issued by a merchant, newest first. Those of all networks are found by
 * their number, wherever in the list they are; those of one network are counted and passed over in
 * an index alone.
 *
 * @param network null: of every network
 */
export async function listDepositAddresses(
  sql: Sql,
  merchantId: string,
  network: Network | null,
  { page, limit }: PageRequest,
): Promise<Page<ListedAddress>> {
  const offset = (page - 1) * limit;
  const counted = network === null
    ? sql`
      SELECT coalesce(max(m.seq), 0) AS total FROM book.address_number m
      WHERE m.merchant_id = ${merchantId}`
    : sql`
      SELECT count(*) AS total FROM book.deposit_address m
      WHERE m.merchant_id = ${merchantId} AND m.kind = 'issued' AND m.network = ${network}`;
  const numbered = network === null
    ? sql`
      SELECT n.address_id AS id, n.seq AS place FROM book.address_number n
      WHERE n.merchant_id = ${merchantId} AND n.seq <= (SELECT total FROM counted) - ${offset}::bigint
      ORDER BY n.seq DESC LIMIT ${limit} OFFSET 0`
    : sql`
      SELECT n.id, row_number() OVER (ORDER BY n.id) AS place FROM (
        SELECT a.id FROM book.deposit_address a
        WHERE a.merchant_id = ${merchantId} AND a.kind = 'issued' AND a.network = ${network}
        ORDER BY a.id DESC OFFSET ${offset} LIMIT ${limit}) n`;
  const rows = await sql`
    WITH counted AS MATERIALIZED (${counted}), page AS MATERIALIZED (${numbered})
    SELECT c.total, x.* FROM counted c LEFT JOIN (
      SELECT p.place, a.* FROM page p
      JOIN book.deposit_address a ON a.id = p.id AND a.merchant_id = ${merchantId}) x ON true
    ORDER BY x.place DESC`;
  const addresses = rows.filter((row) => row.id !== null)
    .map((row) => depositAddressTable.decode(row));
  const deposits = await newestDeposits(sql, merchantId, addresses.map(({ id }) => id));
  return {
    total: Number(rows[0]?.total ?? 0),
    rows: addresses.map((address) => ({ ...address, deposits: deposits.get(address.id) ?? [] })),
  };
}

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
