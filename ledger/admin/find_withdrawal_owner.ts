import type { Sql } from "../database/connect.ts";
import { type WithdrawalRow, withdrawalTable } from "../rows.ts";

/** A withdrawal by its id alone, whoever's it is; `null` where there is none. */
export async function findWithdrawalOwner(
  sql: Sql,
  withdrawalId: string,
): Promise<WithdrawalRow | null> {
  const [row] = await sql`SELECT w.* FROM book.withdrawal w WHERE w.id = ${withdrawalId}`;
  return row === undefined ? null : withdrawalTable.decode(row);
}
