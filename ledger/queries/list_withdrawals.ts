import type { Sql } from "../database/connect.ts";
import { type WithdrawalRow, withdrawalTable } from "../rows.ts";
import type { ListFilter } from "./list_filter.ts";
import { type Page, pageOf, type PageRequest } from "./list_page.ts";

/** One page of a merchant's withdrawals, newest first. */
export async function listWithdrawals(
  sql: Sql,
  merchantId: string,
  filter: ListFilter,
  request: PageRequest,
): Promise<Page<WithdrawalRow>> {
  const rows = await sql`
    WITH ${pageOf(sql, "withdrawal", merchantId, filter, request)}
    SELECT c.total, p.* FROM counted c LEFT JOIN page p ON true ORDER BY p.seq DESC`;
  return {
    total: Number(rows[0]?.total ?? 0),
    rows: rows.filter((row) => row.id !== null).map((row) => withdrawalTable.decode(row)),
  };
}
