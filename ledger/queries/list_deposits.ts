import type { Sql } from "../database/connect.ts";
import { type DepositRow, depositTable } from "../rows.ts";
import type { ListFilter } from "./list_filter.ts";
import { pageOf, type PageRequest } from "./list_page.ts";

/**
 * Reads one page of a merchant's deposits, newest first. No row is kept: each may be large.
 *
 * @param take called with each row as it arrives; what it was given counts only when this resolves
 * @returns rows of the whole list under the filter
 */
export async function listDeposits(
  sql: Sql,
  merchantId: string,
  filter: ListFilter,
  request: PageRequest,
  take: (row: DepositRow) => void,
): Promise<number> {
  let total = 0;
  await sql`
    WITH ${pageOf(sql, "deposit", merchantId, filter, request)}
    SELECT c.total, p.* FROM counted c LEFT JOIN page p ON true ORDER BY p.seq DESC`
    .forEach((row) => {
      total = Number(row.total);
      if (row.id !== null) take(depositTable.decode(row));
    });
  return total;
}
