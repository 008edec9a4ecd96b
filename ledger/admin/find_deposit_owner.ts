import type { Sql } from "../database/connect.ts";

/** Whose deposit this is; `null` where there is none of that id. */
export async function findDepositOwner(sql: Sql, depositId: string): Promise<string | null> {
  const [row] = await sql<{ merchant_id: string }[]>`
    SELECT merchant_id FROM book.deposit WHERE id = ${depositId}`;
  return row?.merchant_id ?? null;
}
