/**
 * The commit of signatures, before anything is broadcast.
 *
 * @module
 */

import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";
import { shape } from "../shape.ts";
import { amount, bigint, integer, orNull, type RowOf, text, time } from "../table.ts";
import type { SigningTurn } from "./pull_queued.ts";

const signedShape = shape({
  outgoingId: text(),
  merchantId: text(),
  network: text<Network>(),
  txid: text(),
  bytes: text(),
  /** The last tick at which a block may hold it; null: its nonce ends it. */
  diesAfter: orNull(bigint()),
  /** For people and timers, Unix milliseconds; null: its nonce ends it. */
  expiresAt: orNull(time()),
  /** Null on chains whose senders do not number their transactions. */
  nonce: orNull(bigint()),
  /** Place of its intent among those of its transaction, from 0 on. */
  place: integer(),
  /** Number of intents that its transaction carries. */
  intents: integer(),
  /**
   * The most coin that it may take from the hot wallet, besides what it moves: its share of it where its transaction
   * carries several. What pays from its own address takes none.
   */
  feeLimit: amount(),
  sinceHeight: orNull(bigint()),
});
/** The signature of an intent, about to be made durable; those of one transaction have its id and its bytes. */
export interface SignedRow extends Omit<RowOf<typeof signedShape>, "sinceHeight"> {
  /** The solid block that its bytes refer to, so that it can only come after it; absent: not known. */
  readonly sinceHeight?: number | null;
}

/**
 * Commits signatures before anything is broadcast: `queued -> signed` and the attempt's bytes, in
 * one statement. A transfer that was given up meanwhile, whose merchant was suspended, whose row
 * another transaction holds, or whose transaction was tried before, is not among the answer, nor is any other
 * that its transaction carries, and its signature must be forgotten. None is where something stops signing meanwhile (`hub.signing_stop`).
 *
 * @param turn the turn they were pulled in
 * @param adopts they were signed in a history that was lost, see {@linkcode adoptSigned}
 * @returns ids of the transfers that are signed now; null, and none is, where something else was
 *   signed for the network since the turn began (what the wallet has reserved was read too early),
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
      -- another commit at the same time waits here, and then finds another number
      UPDATE book.signing_turn SET batches = batches + 1
      WHERE network = ${turn.network} AND (${adopts}::boolean OR batches = ${
    String(turn.batches)
  }::bigint AND (SELECT hub.signing_stop(${turn.network})) IS NULL) RETURNING 1
    ), input AS (
      SELECT * FROM ${signedShape.rows(sql, "i", rows)}
    ), locked AS (
      SELECT o.id, o.merchant_id FROM book.outgoing o JOIN input i ON i.outgoing_id = o.id AND i.merchant_id = o.merchant_id
      WHERE EXISTS (SELECT FROM turn) AND o.network = ${turn.network} AND o.status = 'queued' AND o.nonce IS NULL
        AND NOT EXISTS (
          SELECT FROM book.merchant m WHERE m.merchant_id = o.merchant_id AND m.status <> 'ACTIVE')
        -- what is adopted was signed before the change, and is dead once the hold for it is over
        AND (NOT ${adopts}::boolean OR EXISTS (
          SELECT FROM hub.failover_network n JOIN hub.failover f ON f.id = n.failover_id
          WHERE n.network = o.network AND n.compared_at IS NULL AND o.created_at < f.found_at
            AND i.dies_after <= n.until_tick AND i.since_height <= n.head_height))
        -- the signer's old answer (a node that lags shows it a block before its expiry) would break
        -- the unique key, and with it every other signature of the batch
        AND NOT EXISTS (SELECT FROM book.attempt a WHERE a.txid = i.txid AND a.network = i.network)
      -- a row that another session holds must not keep all others from being signed
      ORDER BY o.id FOR NO KEY UPDATE OF o SKIP LOCKED
    ), whole AS (
      -- a transaction pays all of its intents or none
      SELECT l.id, l.merchant_id FROM locked l JOIN input i ON i.outgoing_id = l.id AND i.merchant_id = l.merchant_id
      WHERE i.intents = 1 OR i.intents = (
        SELECT count(*) FROM input j JOIN locked k ON k.id = j.outgoing_id AND k.merchant_id = j.merchant_id
        WHERE j.txid = i.txid)
    ), moved AS (
      UPDATE book.outgoing o
      SET status = 'signed', attempts = o.attempts + 1, lease_until = NULL, tries = 0, reason = NULL, updated_at = now()
      FROM whole l WHERE o.id = l.id AND o.merchant_id = l.merchant_id AND o.status = 'queued'
      RETURNING o.id, o.merchant_id, o.attempts, o.kind, o.payment_id
    ), notified AS (
      -- settlements show that their transaction is on its way
      INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
      SELECT m.merchant_id, i.network, i.txid, -1, 'submitted', jsonb_build_object(
        'withdrawalId', w.id, 'settlementId', w.settlement_id)
      FROM moved m JOIN input i ON i.outgoing_id = m.id AND i.merchant_id = m.merchant_id
      JOIN book.withdrawal w ON w.id = m.payment_id AND w.merchant_id = m.merchant_id
      WHERE m.kind = 'settlement' ON CONFLICT DO NOTHING
    ), stored AS (
      INSERT INTO book.attempt
        (outgoing_id, number, merchant_id, network, txid, bytes, expires_at, dies_after, nonce, place, intents, created_at,
         fee_limit, since_height, known_height, adopted)
      SELECT m.id, m.attempts, m.merchant_id, i.network, i.txid, i.bytes, i.expires_at, i.dies_after, i.nonce, i.place,
        i.intents, now(), i.fee_limit, i.since_height,
        (SELECT c.height FROM hub.cursor c WHERE c.network = i.network AND c.view = 'solid'),
        ${adopts}::boolean
      FROM moved m JOIN input i ON i.outgoing_id = m.id AND i.merchant_id = m.merchant_id
      RETURNING outgoing_id
    )
    SELECT EXISTS (SELECT FROM turn) AS held, ARRAY(SELECT outgoing_id FROM stored) AS ids`;
  if (answer === undefined) throw new Error("Cannot commit signatures as the answer has no row");
  return answer.held ? new Set(answer.ids) : null;
}

/**
 * Commits signatures of a lost history as attempts of transfers that are queued in this one, so that
 * the scan knows them. They may be in a block already, so nothing that stops new signatures stops
 * these. A signer cannot tell what was committed in the lost history from what was refused there, and
 * another signer may have signed the same transfer: adopted bytes are never sent, and either a block
 * shows them or they expire. Only an open hold adopts, only transfers that were made before it was
 * found, of active merchants, and only bytes that are dead before it is over.
 *
 * @returns ids of the transfers that are signed now
 * @throws a connection error: unknown; doing it again changes nothing
 */
export async function adoptSigned(
  sql: Sql,
  network: Network,
  rows: readonly SignedRow[],
): Promise<ReadonlySet<string>> {
  if (rows.length === 0) return new Set();
  await sql`
    INSERT INTO book.signing_turn (network, node, until) VALUES (${network}, 'adoption', now())
    ON CONFLICT DO NOTHING`;
  return await commitSigned(sql, rows, { network, batches: 0n }, true) ?? new Set();
}
