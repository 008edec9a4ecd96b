import { amountOf } from "../amount.ts";
import type { Sql } from "../database/connect.ts";
import type { DepositRow } from "../rows.ts";

/** Whose deposit this is, and how it stands; `null` where there is none of that id. */
export async function findDepositOwner(
  sql: Sql,
  depositId: string,
): Promise<Pick<DepositRow, "merchantId" | "status" | "amount"> | null> {
  const [row] = await sql<{ merchant_id: string; status: DepositRow["status"]; amount: string }[]>`
    SELECT merchant_id, status, trim_scale(amount)::text AS amount FROM book.deposit WHERE id = ${depositId}`;
  if (row === undefined) return null;
  return { merchantId: row.merchant_id, status: row.status, amount: amountOf(row.amount) };
}
