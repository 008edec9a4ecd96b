import type { Sql } from "../database/connect.ts";
import { type SettlementRow, settlementTable } from "../rows.ts";

/** A settlement by its id alone, whoever's it is; `null` where there is none. */
export async function findSettlementOwner(
  sql: Sql,
  settlementId: string,
): Promise<SettlementRow | null> {
  const [row] = await sql`SELECT s.* FROM book.settlement s WHERE s.id = ${settlementId}`;
  return row === undefined ? null : settlementTable.decode(row);
}
