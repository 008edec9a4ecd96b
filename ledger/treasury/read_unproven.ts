import type { Sql } from "postgres";
import { type Amount, formatAmount } from "../money/amount.ts";
import type { Network } from "../money/pair.ts";

/** A transaction that our own scan has proven dead and that a second node has to agree on. */
export interface Unproven {
  readonly outgoingId: string;
  readonly merchantId: string;
  readonly txid: string;
  /** Unix milliseconds of block time. */
  readonly expiresAt: number;
}

/**
 * Signed transactions of more than an amount whose expiry our scan has passed, oldest first. What
 * moves the chain's own coin is not among them: it pays nobody.
 *
 * @param previousTime of the solid cursor, Unix milliseconds
 * @param above in any token
 */
export async function readUnproven(
  sql: Sql,
  network: Network,
  previousTime: number,
  above: Amount,
  limit: number,
): Promise<readonly Unproven[]> {
  const rows = await sql<
    { outgoing_id: string; merchant_id: string; txid: string; expires_at: Date }[]
  >`
    SELECT a.outgoing_id, a.merchant_id, a.txid, a.expires_at
    FROM book.outgoing o
    JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome IS NULL
    WHERE o.network = ${network} AND o.status = 'signed' AND o.currency <> 'native'
      AND o.amount > ${formatAmount(above)}::text::numeric
      AND a.expires_at < ${new Date(previousTime)}
    ORDER BY o.id LIMIT ${limit}`;
  return rows.map((row) => ({
    outgoingId: row.outgoing_id,
    merchantId: row.merchant_id,
    txid: row.txid,
    expiresAt: row.expires_at.getTime(),
  }));
}
