import type { Sql } from "./database/connect.ts";
import { type Page, pageOf, type PageRequest } from "./lists/list_page.ts";
import { type WithdrawalRow, withdrawalTable } from "./rows.ts";
import type { ListFilter } from "./lists/list_filter.ts";

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

/** A withdrawal by its id alone, whoever's it is; `null` where there is none. */
export async function findWithdrawalOwner(
  sql: Sql,
  withdrawalId: string,
): Promise<WithdrawalRow | null> {
  const [row] = await sql`SELECT w.* FROM book.withdrawal w WHERE w.id = ${withdrawalId}`;
  return row === undefined ? null : withdrawalTable.decode(row);
}
