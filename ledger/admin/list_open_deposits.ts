import type { Sql } from "../database/connect.ts";
import type { Page, PageRequest } from "../queries/list_page.ts";
import { type DepositRow, depositTable } from "../rows.ts";

/** One page of the deposits booked by hand that wait for a decision, newest first. */
export async function listOpenDeposits(
  sql: Sql,
  merchantId: string | undefined,
  { page, limit }: PageRequest,
): Promise<Page<DepositRow>> {
  const waiting = sql`
    FROM book.deposit d WHERE d.status = 'PENDING' AND (d.log_index IS NULL OR d.log_index = -1)
      ${merchantId === undefined ? sql`` : sql`AND d.merchant_id = ${merchantId}`}`;
  const [[counted], rows] = await Promise.all([
    sql<{ total: string }[]>`SELECT count(*) AS total ${waiting}`,
    sql`SELECT d.* ${waiting} ORDER BY d.id DESC OFFSET ${
      (page - 1) * limit
    }::bigint LIMIT ${limit}`,
  ]);
  return {
    total: Number(counted?.total ?? 0),
    rows: rows.map((row) => depositTable.decode(row)),
  };
}
