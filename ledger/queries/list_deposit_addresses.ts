import type { Sql } from "../database/connect.ts";
import type { Network } from "../pair.ts";
import { type DepositAddressRow, depositAddressTable } from "../rows.ts";
import type { Page, PageRequest } from "./list_page.ts";
import { type AddressDeposit, newestDeposits } from "./newest_deposits.ts";

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
