import type { Sql } from "../database/connect.ts";
import { type SettlementAddressRow, settlementAddressTable } from "../rows.ts";
import type { Page, PageRequest } from "./list_page.ts";

/** One page of a merchant's whitelist (a handful of rows), newest first; removed ones are left out. */
export async function listSettlementAddresses(
  sql: Sql,
  merchantId: string,
  { page, limit }: PageRequest,
): Promise<Page<SettlementAddressRow>> {
  const rows = await sql`
    SELECT a.* FROM book.settlement_address a
    WHERE a.merchant_id = ${merchantId} AND a.removed_at IS NULL ORDER BY a.id DESC`;
  const listed = rows.map((row) => settlementAddressTable.decode(row));
  return { total: listed.length, rows: listed.slice((page - 1) * limit, page * limit) };
}
