import type { Sql } from "../database/connect.ts";
import type { Network } from "../pair.ts";

/** Where a reseller's withdrawals go. */
export interface RegisteredDestination {
  readonly address: string;
  readonly network: Network;
}

/** The registered destination of the reseller that owns a merchant account, or `null`. */
export async function findReseller(
  sql: Sql,
  merchantId: string,
): Promise<RegisteredDestination | null> {
  const [row] = await sql<RegisteredDestination[]>`
    SELECT withdrawal_address AS address, network FROM hub.reseller WHERE merchant_id = ${merchantId}`;
  return row ?? null;
}
