import type { Sql } from "./database/connect.ts";
import { type Page, type PageRequest, readListPage } from "./lists/list_page.ts";
import { type ListFilter, ListQuery } from "./lists/list_query.ts";
import { type SettlementRow, settlementTable } from "./payment_rows.ts";

/** Addresses on a merchant's whitelist at most; the database refuses more, too. */
export const MOST_SETTLEMENT_ADDRESSES = 200;

/** One page of a merchant's settlements, newest first. */
export async function listSettlements(
  sql: Sql,
  merchantId: string,
  filter: ListFilter,
  request: PageRequest,
): Promise<Page<SettlementRow>> {
  const query = new ListQuery(sql, "settlement", merchantId, filter);
  return await readListPage(query, settlementTable, request);
}

/** One settlement of a merchant; null where it has none of that id. */
export async function findSettlement(
  sql: Sql,
  merchantId: string,
  settlementId: string,
): Promise<SettlementRow | null> {
  const [row] = await sql`
    SELECT s.* FROM book.settlement s
    WHERE s.id = ${settlementId} AND s.merchant_id = ${merchantId}`;
  return row === undefined ? null : settlementTable.decode(row);
}

/** A settlement of any merchant by its id; null where there is none. */
export async function findSettlementOwner(
  sql: Sql,
  settlementId: string,
): Promise<SettlementRow | null> {
  const [row] = await sql`SELECT s.* FROM book.settlement s WHERE s.id = ${settlementId}`;
  return row === undefined ? null : settlementTable.decode(row);
}

/** The merchant of a whitelisted address; null where there is none of that id. */
export async function findSettlementAddressOwner(
  sql: Sql,
  addressId: string,
): Promise<string | null> {
  const [row] = await sql<{ merchant_id: string }[]>`
    SELECT merchant_id FROM book.settlement_address
    WHERE id = ${addressId} AND removed_at IS NULL`;
  return row?.merchant_id ?? null;
}
