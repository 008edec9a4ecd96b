import type { Sql } from "../database/connect.ts";
import type { Network } from "../pair.ts";

/** A merchant's top-up address. */
export interface TopUpAddress {
  readonly network: Network;
  readonly address: string;
  readonly walletIndex: number;
}

/** The merchant's own top-up address on a network; null where none was handed out yet. */
export async function findTopUpAddress(
  sql: Sql,
  merchantId: string,
  network: Network,
): Promise<TopUpAddress | null> {
  const [row] = await sql<TopUpAddress[]>`
    SELECT a.address, a.network, a.wallet_index AS "walletIndex" FROM book.deposit_address a
    WHERE a.merchant_id = ${merchantId} AND a.network = ${network} AND a.kind = 'top_up'`;
  return row ?? null;
}
