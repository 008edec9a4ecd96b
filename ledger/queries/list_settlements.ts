import type { Sql } from "../database/connect.ts";
import { type SettlementRow, settlementTable } from "../rows.ts";
import type { ListFilter } from "./list_filter.ts";
import { type Page, pageOf, type PageRequest } from "./list_page.ts";

/** One page of a merchant's settlements, newest first. */
export async function listSettlements(
  sql: Sql,
  merchantId: string,
  filter: ListFilter,
  request: PageRequest,
): Promise<Page<SettlementRow>> {
  const rows = await sql`
    WITH ${pageOf(sql, "settlement", merchantId, filter, request)}
    SELECT c.total, p.* FROM counted c LEFT JOIN page p ON true ORDER BY p.seq DESC`;
  return {
    total: Number(rows[0]?.total ?? 0),
    rows: rows.filter((row) => row.id !== null).map((row) => settlementTable.decode(row)),
  };
}
