import type { Sql } from "../database/connect.ts";
import type { Network } from "../pair.ts";

/** The transaction that a deposit booked by hand names. */
export interface NamedTransaction {
  readonly network: Network;
  readonly txid: string;
}

/** What a deposit by hand names; `null` where it names nothing or is not by hand. */
export async function findNamedTransaction(
  sql: Sql,
  merchantId: string,
  depositId: string,
): Promise<NamedTransaction | null> {
  const [row] = await sql<{ network: Network; txid: string }[]>`
    SELECT d.network, d.txid FROM book.deposit d
    WHERE d.id = ${depositId} AND d.merchant_id = ${merchantId} AND d.log_index = -1`;
  return row ?? null;
}
