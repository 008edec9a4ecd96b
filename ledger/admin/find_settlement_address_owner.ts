import type { Sql } from "../database/connect.ts";

/** Whose whitelisted address this is; `null` where there is none of that id. */
export async function findSettlementAddressOwner(
  sql: Sql,
  addressId: string,
): Promise<string | null> {
  const [row] = await sql<{ merchant_id: string }[]>`
    SELECT merchant_id FROM book.settlement_address
    WHERE id = ${addressId} AND removed_at IS NULL`;
  return row?.merchant_id ?? null;
}
