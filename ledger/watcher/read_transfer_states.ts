import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";

/** How far a merchant's books are with one transfer of a transaction. */
export interface TransferState {
  readonly logIndex: number;
  /** Whether it is credited, or is a final top-up, or is claimed by a deposit booked by hand. */
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
