import type { Sql } from "postgres";
import { inPlace } from "../in_place.ts";
import type { Network } from "../money/pair.ts";
import { shape } from "../shape.ts";
import { bigint, integer, type RowOf, text, time } from "../table.ts";

const pendingShape = shape({
  depositId: text(),
  merchantId: text(),
  network: text<Network>(),
  txid: text(),
  logIndex: integer(),
  to: text(),
  /** Height of the block it was first seen in; 0: not known, so that nothing is ever proven. */
  height: bigint(),
  /** The last tick at which a block may hold it. */
  diesAfter: bigint(),
});
/** A deposit that was seen and may still vanish. */
export type PendingTransfer = RowOf<typeof pendingShape>;

/** One on-chain deposit, if it is still pending. */
export async function readPendingDeposit(
  sql: Sql,
  depositId: string,
): Promise<PendingTransfer | null> {
  return pendingShape.first(
    await sql`
    SELECT id AS deposit_id, merchant_id, network, txid, log_index, address AS "to", coalesce(height, 0) AS height,
      dies_after
    FROM book.deposit
    WHERE id = ${depositId} AND status = 'PENDING' AND txid IS NOT NULL AND expires_at IS NOT NULL`,
  );
}

const unwatchedShape = shape({ depositId: text(), expiresAt: time() });

/**
 * Pending on-chain deposits whose expiry is not watched: a crash, here or of another node, left them.
 *
 * @param limit the most that are answered; once they are watched, others follow
 */
export async function readUnwatchedDeposits(
  sql: Sql,
  limit: number,
): Promise<readonly RowOf<typeof unwatchedShape>[]> {
  return unwatchedShape.all(
    await sql`
    SELECT d.id AS deposit_id, d.expires_at FROM book.deposit d
    LEFT JOIN hub.timer t ON t.actor = 'payment/' || d.id AND t.name = 'expiry'
    -- one that came in on an address, by the index of these alone: by hand a merchant may have made any number
    WHERE d.status = 'PENDING' AND d.address_id IS NOT NULL AND d.expires_at IS NOT NULL AND t.actor IS NULL
    ORDER BY d.address_id, d.id LIMIT ${limit}`,
  );
}

/** State of one transfer of a transaction in a merchant's books. */
export interface TransferState {
  readonly logIndex: number;
  /** True where it is credited, or is a final top-up, or is claimed by a deposit booked by hand. */
  readonly booked: boolean;
  /** Reason why the transfer is quarantined, null where it is not. */
  readonly quarantine: string | null;
}

/** Index of the log under which a deposit booked by hand claims its whole transaction. */
const WHOLE_TRANSACTION = -1;

/** Reads the states of transfers in a solid block in a merchant's books. */
export async function readTransferStates(
  sql: Sql,
  merchantId: string,
  transaction: { readonly network: Network; readonly txid: string },
  logIndexes: readonly number[],
): Promise<readonly TransferState[]> {
  const { network, txid } = transaction;
  return await sql<TransferState[]>`
    SELECT k.log_index AS "logIndex", i.quarantine AS quarantine,
      w.claimed OR d.id IS NOT NULL AND (d.status = 'CONFIRMED' OR d.expires_at IS NULL) AS booked
    FROM (
      SELECT ${merchantId}::text AS merchant_id, ${network}::text AS network, ${txid}::text AS txid, log_index,
        'solid' AS phase
      FROM unnest(${[...logIndexes]}::int[]) AS log_index) k
    CROSS JOIN (
      SELECT EXISTS (
        SELECT FROM book.deposit h
        WHERE h.merchant_id = ${merchantId} AND h.network = ${network} AND h.txid = ${txid}
          AND h.log_index = ${WHOLE_TRANSACTION} AND h.status IN ('PENDING', 'CONFIRMED')) AS claimed) w
    LEFT JOIN LATERAL (
      SELECT x.* FROM book.deposit x
      WHERE ${inPlace(sql, ["merchant_id", "network", "txid", "log_index"])}) d ON true
    LEFT JOIN LATERAL (
      SELECT x.* FROM book.inbox x
      WHERE ${inPlace(sql, ["merchant_id", "network", "txid", "log_index", "phase"])}) i
      ON i.consumed_at IS NULL`;
}
