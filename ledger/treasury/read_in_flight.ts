import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";

/** A signed transaction whose fate is not known yet. */
export interface InFlight {
  readonly outgoingId: string;
  readonly txid: string;
  readonly bytes: string;
  /** Unix milliseconds of block time. */
  readonly expiresAt: number;
}

/** Signed transactions of a network without an outcome that may be sent, oldest first. */
export async function readInFlight(
  sql: Sql,
  network: Network,
  limit: number,
): Promise<readonly InFlight[]> {
  const rows = await sql<
    { outgoing_id: string; txid: string; bytes: string; expires_at: Date }[]
  >`
    SELECT a.outgoing_id, a.txid, a.bytes, a.expires_at
    FROM book.outgoing o
    JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome IS NULL
      AND NOT a.adopted
    WHERE o.network = ${network} AND o.status = 'signed' ORDER BY o.id LIMIT ${limit}`;
  return rows.map((row) => ({
    outgoingId: row.outgoing_id,
    txid: row.txid,
    bytes: row.bytes,
    expiresAt: row.expires_at.getTime(),
  }));
}
