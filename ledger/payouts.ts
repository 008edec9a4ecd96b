import type { Sql } from "./database/connect.ts";
import type { Network, OutgoingAsset } from "./money/pair.ts";
import type { OutgoingRow } from "./rows.ts";
import { shape } from "./shape.ts";
import { amount, bigint, integer, orNull, type RowOf, text, texts, time } from "./table.ts";

/** The transaction that a deposit booked by hand names. */
export interface NamedTransaction {
  readonly network: Network;
  readonly txid: string;
}

/** The transaction that a deposit by hand names; null where it names none or is not by hand. */
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

/** A transaction of the service's own. */
export interface FoundAttempt {
  /** The transfer that it carries, the first of them where it carries several. */
  readonly outgoingId: string;
  /**
   * True if it was declared dead. Its transfer was queued again or given up then, so that where it is
   * on the chain after all, nothing but a verdict keeps the transfer from being made twice.
   */
  readonly isExpired: boolean;
}

/**
 * Finds which transfer of the service's own a transaction carries; `null`: none. Such a transaction
 * is stored before it is first sent, so one that is on the chain and not stored was made elsewhere.
 */
export async function findAttempt(
  sql: Sql,
  network: Network,
  txid: string,
): Promise<FoundAttempt | null> {
  const [row] = await sql<FoundAttempt[]>`
    SELECT outgoing_id AS "outgoingId", coalesce(outcome IN ('expired', 'superseded'), false) AS "isExpired"
    FROM book.attempt WHERE txid = ${txid} AND network = ${network} AND place = 0`;
  return row ?? null;
}

const waitingTransfer = shape({
  id: text(),
  merchantId: text(),
  kind: text<OutgoingRow["kind"]>(),
  paymentId: orNull(text()),
  network: text<Network>(),
  currency: text<OutgoingAsset>(),
  amount: amount(),
  destination: text(),
  status: text<"queued" | "signed">(),
  /** The reason for its waiting, as the treasury last found. */
  reason: orNull(text()),
  attempts: integer(),
  /** Of the transaction that is under way, the newest where there are several. */
  txid: orNull(text()),
  expiresAt: orNull(time()),
  /** The number that is promised to it; null: none is, or its chain counts none. */
  nonce: orNull(bigint()),
  /** The newest block that shows it and may still vanish. */
  seenHeight: orNull(bigint()),
  /** Ids of all its transactions that may still be in a block, oldest first. */
  txids: texts(),
  createdAt: time(),
});
/** An own transfer that waits for its signature or for its block. */
export type WaitingTransfer = RowOf<typeof waitingTransfer>;

/** Transfers that are not settled: the oldest of each network and state. */
export async function listOutgoing(
  sql: Sql,
  limit: number,
): Promise<readonly WaitingTransfer[]> {
  return waitingTransfer.all(
    await sql`
    SELECT o.id, o.merchant_id, o.kind, o.payment_id, o.network, o.currency, o.amount, o.destination,
      o.status, o.reason, o.attempts, a.txid, a.expires_at, o.nonce, l.seen_height,
      coalesce(l.txids, '{}') AS txids, o.created_at
    FROM (SELECT network FROM hub.wallet) w
    CROSS JOIN (VALUES ('queued'), ('signed')) s(status)
    CROSS JOIN LATERAL (
      SELECT * FROM book.outgoing x
      WHERE x.network = w.network AND x.status = s.status AND x.status IN ('queued', 'signed')
      ORDER BY x.id LIMIT ${limit}) o
    LEFT JOIN LATERAL (
      SELECT * FROM book.attempt t
      WHERE t.outgoing_id = o.id AND t.merchant_id = o.merchant_id AND t.outcome IS NULL
      ORDER BY t.number DESC LIMIT 1) a ON true
    LEFT JOIN LATERAL (
      SELECT max(t.seen_height) AS seen_height, array_agg(t.txid ORDER BY t.number) AS txids FROM book.attempt t
      WHERE t.outgoing_id = o.id AND t.merchant_id = o.merchant_id AND t.outcome IS NULL) l ON true
    ORDER BY o.id`,
  );
}
