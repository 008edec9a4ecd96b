import type { Sql } from "../database/connect.ts";
import { type SettlementRow, settlementTable } from "../rows.ts";

/** One settlement of a merchant; null where it has none of that id. */
export async function findSettlement(
  sql: Sql,
  merchantId: string,
  settlementId: string,
): Promise<SettlementRow | null> {
  const [row] = await sql`
    SELECT s.* FROM book.settlement s
    WHERE s.id = ${settlementId} AND s.merchant_id = ${merchantId}`;
  return row === undefined ? null : settlementTable.decode(row);
}
