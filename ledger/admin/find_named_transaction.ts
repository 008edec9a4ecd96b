import type { Sql } from "../database/connect.ts";
import type { Network } from "../pair.ts";

/** The transaction that a deposit booked by hand names. */
export interface NamedTransaction {
  readonly network: Network;
  readonly txid: string;
  /** Whether a deposit by hand of another merchant that names it too was confirmed. */
  readonly isBookedByAnother: boolean;
}

/** What a deposit by hand names; `null` where it names nothing or is not by hand. */
export async function findNamedTransaction(
  sql: Sql,
  merchantId: string,
  depositId: string,
): Promise<NamedTransaction | null> {
  const [row] = await sql<{ network: Network; txid: string; booked: boolean }[]>`
    SELECT d.network, d.txid, EXISTS (
      SELECT FROM book.deposit o
      WHERE o.network = d.network AND o.txid = d.txid AND o.log_index = -1 AND o.status = 'CONFIRMED'
        AND o.merchant_id <> d.merchant_id) AS booked
    FROM book.deposit d
    WHERE d.id = ${depositId} AND d.merchant_id = ${merchantId} AND d.log_index = -1`;
  return row === undefined
    ? null
    : { network: row.network, txid: row.txid, isBookedByAnother: row.booked };
}
