import type { Sql } from "../database/connect.ts";

/** Whether a merchant's account has a statement: before that, nothing can have been paid to it. */
export async function hasHadMoney(sql: Sql, merchantId: string): Promise<boolean> {
  const [row] = await sql<{ had: boolean }[]>`
    SELECT transaction_seq > 0 AS had FROM book.account WHERE merchant_id = ${merchantId}`;
  return row?.had ?? false;
}
