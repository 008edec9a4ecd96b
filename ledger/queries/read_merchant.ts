import type { Sql } from "../database/connect.ts";
import { type MerchantRow, merchantTable } from "../rows.ts";

/** Reads the profile of a merchant; null where there is none of that id. */
export async function readMerchant(sql: Sql, merchantId: string): Promise<MerchantRow | null> {
  const [row] = await sql`SELECT m.* FROM book.merchant m WHERE m.merchant_id = ${merchantId}`;
  return row === undefined ? null : merchantTable.decode(row);
}
