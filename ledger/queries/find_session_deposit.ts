import type { Sql } from "../database/connect.ts";
import { type DepositRow, depositTable } from "../rows.ts";

/**
 * The deposit that says how a hosted payment stands: the first credited one, otherwise the first
 * that is under way, otherwise the first that came to nothing.
 *
 * @param addressId the address behind the page
 * @returns null while nothing was seen
 */
export async function findSessionDeposit(
  sql: Sql,
  merchantId: string,
  addressId: string,
): Promise<DepositRow | null> {
  const [row] = await sql`
    SELECT d.* FROM book.deposit d
    WHERE d.address_id = ${addressId} AND d.merchant_id = ${merchantId}
    ORDER BY CASE d.status WHEN 'CONFIRMED' THEN 0 WHEN 'PENDING' THEN 1 ELSE 2 END,
      d.cleared_at, d.id
    LIMIT 1`;
  return row === undefined ? null : depositTable.decode(row);
}
