import type { Sql } from "postgres";
import { type Amount, formatAmount } from "../money/amount.ts";
import type { Network } from "../money/pair.ts";
import type { SigningTurn } from "./signing_turn.ts";

/** A signature about to be made durable. */
export interface SignedRow {
  readonly outgoingId: string;
  readonly merchantId: string;
  readonly network: Network;
  readonly txid: string;
  readonly bytes: string;
  readonly expiresAt: number;
  /** The most coin that it may take from the hot wallet, besides what it moves; a sweep takes none. */
  readonly feeLimit: Amount;
  /** The solid block that its bytes refer to, so that it can only come after it; absent: not known. */
  readonly sinceHeight?: number | null;
}

/**
 * Commits signatures before anything is broadcast: `queued -> signed` and the attempt's bytes, in
 * one statement. A transfer that was given up meanwhile, whose merchant was suspended, whose row
 * another transaction holds, or whose transaction was tried before, is not among the answer, and its
 * signature must be forgotten. None is where something stops signing meanwhile (`hub.signing_stop`).
 *
 * @param turn the turn they were pulled in
 * @param adopts they were signed in a history that was lost, see {@linkcode adoptSigned}
 * @returns ids of the transfers that are signed now; null, and none is, where something else was
 *   signed for the network since the turn began (what the wallet has promised was read too early),
 *   or where signing was stopped
 * @throws a connection error: unknown; what was committed is found among the signed ones later
 */
export async function commitSigned(
  sql: Sql,
  rows: readonly SignedRow[],
  turn: SigningTurn,
  adopts = false,
): Promise<ReadonlySet<string> | null> {
  if (rows.length === 0) return new Set();
  const [answer] = await sql<{ held: boolean; ids: string[] }[]>`
    WITH turn AS (
      -- whoever commits at the same time waits here, and then finds another number
      UPDATE book.signing_turn SET batches = batches + 1
      WHERE network = ${turn.network} AND (${adopts}::boolean OR batches = ${
    String(turn.batches)
  }::bigint AND (SELECT hub.signing_stop(${turn.network})) IS NULL) RETURNING 1
    ), input AS (
      SELECT * FROM unnest(
        ${rows.map((row) => row.outgoingId)}::text[], ${rows.map((row) => row.merchantId)}::text[],
        ${rows.map((row) => row.network)}::text[], ${rows.map((row) => row.txid)}::text[],
        ${rows.map((row) => row.bytes)}::text[],
        ${rows.map((row) => new Date(row.expiresAt).toISOString())}::timestamptz[],
        ${rows.map((row) => formatAmount(row.feeLimit))}::numeric[],
        ${rows.map((row) => row.sinceHeight ?? null)}::bigint[])
        AS i(id, merchant_id, network, txid, bytes, expires_at, fee_limit, since_height)
    ), locked AS (
      SELECT o.id, o.merchant_id FROM book.outgoing o JOIN input i ON i.id = o.id AND i.merchant_id = o.merchant_id
      WHERE EXISTS (SELECT FROM turn) AND o.network = ${turn.network} AND o.status = 'queued'
        AND NOT EXISTS (
          SELECT FROM book.merchant m WHERE m.merchant_id = o.merchant_id AND m.status <> 'ACTIVE')
        -- what is adopted was signed before the change, and is dead once the hold for it is over
        AND (NOT ${adopts}::boolean OR EXISTS (
          SELECT FROM hub.failover_network n JOIN hub.failover f ON f.id = n.failover_id
          WHERE n.network = o.network AND n.compared_at IS NULL AND o.created_at < f.found_at
            AND i.expires_at <= n.until_time AND i.since_height <= n.head_height))
        -- the signer's old answer (a node that lags shows it a block before its expiry) would break
        -- the unique key, and with it every other signature of the batch
        AND NOT EXISTS (SELECT FROM book.attempt a WHERE a.txid = i.txid AND a.network = i.network)
      -- a row that another session holds must not keep all others from being signed
      ORDER BY o.id FOR NO KEY UPDATE OF o SKIP LOCKED
    ), moved AS (
      UPDATE book.outgoing o
      SET status = 'signed', attempts = o.attempts + 1, lease_until = NULL, tries = 0, reason = NULL, updated_at = now()
      FROM locked l WHERE o.id = l.id AND o.merchant_id = l.merchant_id AND o.status = 'queued'
      RETURNING o.id, o.merchant_id, o.attempts, o.kind, o.payment_id
    ), told AS (
      -- settlements show that their transaction is on its way
      INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
      SELECT m.merchant_id, i.network, i.txid, -1, 'submitted', jsonb_build_object(
        'withdrawalId', w.id, 'settlementId', w.settlement_id)
      FROM moved m JOIN input i ON i.id = m.id AND i.merchant_id = m.merchant_id
      JOIN book.withdrawal w ON w.id = m.payment_id AND w.merchant_id = m.merchant_id
      WHERE m.kind = 'settlement' ON CONFLICT DO NOTHING
    ), kept AS (
      INSERT INTO book.attempt
        (outgoing_id, number, merchant_id, network, txid, bytes, expires_at, created_at, fee_limit, since_height,
         known_height, adopted)
      SELECT m.id, m.attempts, m.merchant_id, i.network, i.txid, i.bytes, i.expires_at, now(), i.fee_limit, i.since_height,
        (SELECT c.height FROM hub.cursor c WHERE c.network = i.network AND c.view = 'solid'),
        ${adopts}::boolean
      FROM moved m JOIN input i ON i.id = m.id AND i.merchant_id = m.merchant_id
      RETURNING outgoing_id
    )
    SELECT EXISTS (SELECT FROM turn) AS held, ARRAY(SELECT outgoing_id FROM kept) AS ids`;
  if (answer === undefined) throw new Error("Cannot commit signatures as the answer has no row");
  return answer.held ? new Set(answer.ids) : null;
}
