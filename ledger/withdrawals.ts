import type { Sql } from "./database/connect.ts";
import { type Page, type PageRequest, readListPage } from "./lists/list_page.ts";
import { type ListFilter, ListQuery } from "./lists/list_query.ts";
import { type WithdrawalRow, withdrawalTable } from "./payment_rows.ts";

/** One page of a merchant's withdrawals, newest first. */
export async function listWithdrawals(
  sql: Sql,
  merchantId: string,
  filter: ListFilter,
  request: PageRequest,
): Promise<Page<WithdrawalRow>> {
  const query = new ListQuery(sql, "withdrawal", merchantId, filter);
  return await readListPage(query, withdrawalTable, request);
}

/** A withdrawal of any merchant by its id; null where there is none. */
export async function findWithdrawalOwner(
  sql: Sql,
  withdrawalId: string,
): Promise<WithdrawalRow | null> {
  const [row] = await sql`SELECT w.* FROM book.withdrawal w WHERE w.id = ${withdrawalId}`;
  return row === undefined ? null : withdrawalTable.decode(row);
}
