import type { Sql } from "./database/connect.ts";
import { type Amount, amountOf } from "./money/amount.ts";
import type { Network, OutgoingAsset } from "./money/pair.ts";
import type { OutgoingRow } from "./rows.ts";

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

/** A transaction of the service's own. */
export interface FoundAttempt {
  /** The transfer that it carries. */
  readonly outgoingId: string;
  /**
   * True if it was declared dead. Its transfer was queued again or given up then, so that where it is
   * on the chain after all, nothing but a verdict keeps the transfer from being made twice.
   */
  readonly isExpired: boolean;
}

/**
 * Finds which transfer of the service's own a transaction carries; `null`: none. Such a transaction
 * is kept before it is first sent, so whatever is on the chain and not kept was made elsewhere.
 */
export async function findAttempt(
  sql: Sql,
  network: Network,
  txid: string,
): Promise<FoundAttempt | null> {
  const [row] = await sql<FoundAttempt[]>`
    SELECT outgoing_id AS "outgoingId", outcome IS NOT DISTINCT FROM 'expired' AS "isExpired"
    FROM book.attempt WHERE txid = ${txid} AND network = ${network}`;
  return row ?? null;
}

/** A transfer of ours that waits for its signature or for its block. */
export interface WaitingTransfer {
  readonly id: string;
  readonly merchantId: string;
  readonly kind: OutgoingRow["kind"];
  readonly paymentId: string | null;
  readonly network: Network;
  readonly currency: OutgoingAsset;
  readonly amount: Amount;
  readonly destination: string;
  readonly status: "queued" | "signed";
  /** What it waits for, as the treasury last said. */
  readonly reason: string | null;
  readonly attempts: number;
  /** Of the transaction that is under way. */
  readonly txid: string | null;
  readonly expiresAt: number | null;
  readonly createdAt: number;
}

/** Transfers that are not settled: the oldest of each network and state. */
export async function listOutgoing(
  sql: Sql,
  limit: number,
): Promise<readonly WaitingTransfer[]> {
  const rows = await sql<{
    id: string;
    merchant_id: string;
    kind: OutgoingRow["kind"];
    payment_id: string | null;
    network: Network;
    currency: OutgoingAsset;
    amount: string;
    destination: string;
    status: WaitingTransfer["status"];
    reason: string | null;
    attempts: number;
    txid: string | null;
    expires_at: Date | null;
    created_at: Date;
  }[]>`
    SELECT o.id, o.merchant_id, o.kind, o.payment_id, o.network, o.currency,
      trim_scale(o.amount)::text AS amount, o.destination, o.status, o.reason, o.attempts, a.txid,
      a.expires_at, o.created_at
    FROM (SELECT network FROM hub.wallet) w
    CROSS JOIN (VALUES ('queued'), ('signed')) s(status)
    CROSS JOIN LATERAL (
      SELECT * FROM book.outgoing x
      WHERE x.network = w.network AND x.status = s.status AND x.status IN ('queued', 'signed')
      ORDER BY x.id LIMIT ${limit}) o
    LEFT JOIN book.attempt a
      ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome IS NULL
    ORDER BY o.id`;
  return rows.map((row) => ({
    id: row.id,
    merchantId: row.merchant_id,
    kind: row.kind,
    paymentId: row.payment_id,
    network: row.network,
    currency: row.currency,
    amount: amountOf(row.amount),
    destination: row.destination,
    status: row.status,
    reason: row.reason,
    attempts: row.attempts,
    txid: row.txid,
    expiresAt: row.expires_at?.getTime() ?? null,
    createdAt: row.created_at.getTime(),
  }));
}
