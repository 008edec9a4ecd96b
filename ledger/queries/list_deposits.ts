import type { Sql } from "../database/connect.ts";
import { type DepositRow, depositTable } from "../rows.ts";
import type { ListFilter } from "./list_filter.ts";
import { type Page, pageOf, type PageRequest } from "./list_page.ts";

/** One page of a merchant's deposits, newest first. */
export async function listDeposits(
  sql: Sql,
  merchantId: string,
  filter: ListFilter,
  request: PageRequest,
): Promise<Page<DepositRow>> {
  const rows = await sql`
    WITH ${pageOf(sql, "deposit", merchantId, filter, request)}
    SELECT c.total, p.* FROM counted c LEFT JOIN page p ON true ORDER BY p.seq DESC`;
  return {
    total: Number(rows[0]?.total ?? 0),
    rows: rows.filter((row) => row.id !== null).map((row) => depositTable.decode(row)),
  };
}
