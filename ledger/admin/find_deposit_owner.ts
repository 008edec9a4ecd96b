import type { Sql } from "../database/connect.ts";
import type { DepositRow } from "../rows.ts";

/** Whose deposit this is, and how it stands; `null` where there is none of that id. */
export async function findDepositOwner(
  sql: Sql,
  depositId: string,
): Promise<Pick<DepositRow, "merchantId" | "status"> | null> {
  const [row] = await sql<{ merchant_id: string; status: DepositRow["status"] }[]>`
    SELECT merchant_id, status FROM book.deposit WHERE id = ${depositId}`;
  return row === undefined ? null : { merchantId: row.merchant_id, status: row.status };
}
