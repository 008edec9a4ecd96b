import type { Sql } from "../database/connect.ts";
import type { Network } from "../pair.ts";

/** The merchant's own top-up address on a network; null where none was handed out yet. */
export async function findTopUpAddress(
  sql: Sql,
  merchantId: string,
  network: Network,
): Promise<string | null> {
  const [row] = await sql<{ address: string }[]>`
    SELECT a.address FROM book.deposit_address a
    WHERE a.merchant_id = ${merchantId} AND a.network = ${network} AND a.kind = 'top_up'`;
  return row?.address ?? null;
}
