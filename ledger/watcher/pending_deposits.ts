import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";

/** A deposit that was seen and may still vanish. */
export interface PendingTransfer {
  readonly depositId: string;
  readonly merchantId: string;
  readonly network: Network;
  readonly txid: string;
  readonly logIndex: number;
  readonly to: string;
  /** Height of the block it was first seen in. */
  readonly height: number;
  readonly expiresAt: number;
}

interface Columns {
  readonly id: string;
  readonly merchant_id: string;
  readonly network: Network;
  readonly txid: string;
  readonly log_index: number;
  readonly address: string;
  readonly height: string | null;
  readonly expires_at: Date;
}

/** One on-chain deposit, if it is still pending. */
export async function readPendingDeposit(
  sql: Sql,
  depositId: string,
): Promise<PendingTransfer | null> {
  const [row] = await sql<Columns[]>`
    SELECT id, merchant_id, network, txid, log_index, address, height, expires_at FROM book.deposit
    WHERE id = ${depositId} AND status = 'PENDING' AND txid IS NOT NULL AND expires_at IS NOT NULL`;
  if (row === undefined) return null;
  return {
    depositId: row.id,
    merchantId: row.merchant_id,
    network: row.network,
    txid: row.txid,
    logIndex: row.log_index,
    to: row.address,
    // without one nothing is ever proven
    height: Number(row.height ?? 0),
    expiresAt: row.expires_at.getTime(),
  };
}

/**
 * Pending on-chain deposits whose expiry nobody watches: what a crash, here or of another node, left
 * untold.
 *
 * @param limit the most that are answered; once they are watched, others follow
 */
export async function readUnwatchedDeposits(
  sql: Sql,
  limit: number,
): Promise<readonly { readonly depositId: string; readonly expiresAt: number }[]> {
  const rows = await sql<{ id: string; expires_at: Date }[]>`
    SELECT d.id, d.expires_at FROM book.deposit d
    LEFT JOIN hub.timer t ON t.actor = 'payment/' || d.id AND t.name = 'expiry'
    WHERE d.status = 'PENDING' AND d.txid IS NOT NULL AND d.expires_at IS NOT NULL AND t.actor IS NULL
    LIMIT ${limit}`;
  return rows.map((row) => ({ depositId: row.id, expiresAt: row.expires_at.getTime() }));
}

/** How far a merchant's books are with one transfer of a transaction. */
export interface TransferState {
  readonly logIndex: number;
  /** True where it is credited, or is a final top-up, or is claimed by a deposit booked by hand. */
  readonly booked: boolean;
  /** Why the transfer is quarantined, null where it is not. */
  readonly quarantine: string | null;
}

/** Index of the log under which a deposit booked by hand claims its whole transaction. */
const WHOLE_TRANSACTION = -1;

/** Reads how far a merchant's books are with transfers that are in a solid block. */
export async function readTransferStates(
  sql: Sql,
  merchantId: string,
  transaction: { readonly network: Network; readonly txid: string },
  logIndexes: readonly number[],
): Promise<readonly TransferState[]> {
  const { network, txid } = transaction;
  return await sql<TransferState[]>`
    SELECT k.log_index AS "logIndex", EXISTS (
        SELECT FROM book.deposit d
        WHERE d.merchant_id = ${merchantId} AND d.network = ${network} AND d.txid = ${txid}
          AND CASE WHEN d.log_index = ${WHOLE_TRANSACTION} THEN d.status IN ('PENDING', 'CONFIRMED')
                   ELSE d.log_index = k.log_index AND (d.status = 'CONFIRMED' OR d.expires_at IS NULL) END
      ) AS booked, i.quarantine AS quarantine
    FROM unnest(${[...logIndexes]}::int[]) AS k (log_index)
    LEFT JOIN book.inbox i ON i.merchant_id = ${merchantId} AND i.network = ${network}
      AND i.txid = ${txid} AND i.log_index = k.log_index AND i.phase = 'solid'
      AND i.consumed_at IS NULL`;
}
