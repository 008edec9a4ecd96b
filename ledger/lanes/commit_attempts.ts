import type { Sql } from "postgres";
import { shape } from "../shape.ts";
import { amount, bigint, type RowOf, text } from "../table.ts";
import type { SigningTurn } from "../treasury/pull_queued.ts";

const attemptShape = shape({
  outgoingId: text(),
  merchantId: text(),
  txid: text(),
  bytes: text(),
  nonce: bigint(),
  purpose: text<"pay" | "cancel">(),
  /** Its share of the most coin that the transaction may take from its payer's wallet. */
  feeLimit: amount(),
});
/** One transfer's part of a signature about to be made durable; those of one transaction share its id. */
export type LaneSignature = RowOf<typeof attemptShape>;

/**
 * Commits signatures with nonces before anything is broadcast, in one statement. The first one of a
 * transfer moves it `queued -> signed`, unless its merchant was suspended meanwhile; a replacement finds it signed; a
 * cancel finds it in any state. What is not committed must be forgotten: all of a transaction where one of its transfers was
 * given up, is held by another transaction, or has lost the nonce to a block, what would be paid with a nonce that an administrator
 * has taken out of use, and all of them where signing was stopped. What an administrator has taken out of use is stopped by another
 * history alone (`hub.history_stop`), where nothing else is in the batch.
 *
 * @param turn the turn that they were decided in; it moves on by one
 * @returns ids of the transactions that are committed; null, and none is, where something else was signed since
 *   the turn began, or signing was stopped
 * @throws a connection error: unknown; what was committed is found among the open nonces later
 */
export async function commitAttempts(
  sql: Sql,
  rows: readonly LaneSignature[],
  turn: SigningTurn,
): Promise<ReadonlySet<string> | null> {
  if (rows.length === 0) return new Set();
  const { network } = turn;
  const [answer] = await sql<{ held: boolean; txids: string[] }[]>`
    WITH input AS (
      SELECT * FROM ${attemptShape.rows(sql, "i", rows)}
    ), asked AS (
      SELECT bool_and(i.purpose = 'cancel' AND EXISTS (
        SELECT FROM book.outgoing o
        JOIN book.lane_nonce n ON n.network = o.network AND n.payer = book.payer_of(o.wallet, o.fee_payer) AND n.nonce = o.nonce
        WHERE o.id = i.outgoing_id AND o.merchant_id = i.merchant_id AND o.network = ${network} AND o.nonce = i.nonce
          AND n.cancel_by IS NOT NULL)) AS are_all
      FROM input i
    ), turn AS (
      UPDATE book.signing_turn SET batches = batches + 1
      WHERE network = ${network} AND batches = ${String(turn.batches)}::bigint
        AND (SELECT CASE WHEN a.are_all THEN hub.history_stop(${network}) ELSE hub.signing_stop(${network}) END
          FROM asked a) IS NULL RETURNING 1
    ), locked AS (
      SELECT o.id, o.merchant_id, i.txid, n.intents
      FROM input i
      JOIN book.outgoing o ON o.id = i.outgoing_id AND o.merchant_id = i.merchant_id AND o.nonce = i.nonce
      JOIN book.lane_nonce n ON n.network = o.network AND n.payer = book.payer_of(o.wallet, o.fee_payer)
        AND n.nonce = o.nonce AND n.used_by IS NULL
      WHERE EXISTS (SELECT FROM turn) AND o.network = ${network}
        AND (i.purpose = 'cancel' OR n.cancel_by IS NULL AND (
          o.status = 'signed' OR o.status = 'queued' AND NOT EXISTS (
            SELECT FROM book.merchant m WHERE m.merchant_id = o.merchant_id AND m.status <> 'ACTIVE')))
        AND NOT EXISTS (SELECT FROM book.attempt a WHERE a.txid = i.txid AND a.network = o.network)
      -- a row that the scan ends at this moment is not waited for: its nonce is used then
      ORDER BY o.id FOR NO KEY UPDATE OF o SKIP LOCKED
    ), whole AS (
      SELECT txid FROM locked GROUP BY txid HAVING count(*) = min(cardinality(intents))
    ), moved AS (
      UPDATE book.outgoing o
      SET status = CASE WHEN i.purpose = 'pay' THEN 'signed' ELSE o.status END, attempts = o.attempts + 1,
        -- a cancel is none of the transfer's own tries: what it waits for, and for how long, stays
        lease_until = CASE WHEN i.purpose = 'pay' THEN NULL ELSE o.lease_until END,
        tries = CASE WHEN i.purpose = 'pay' THEN 0 ELSE o.tries END,
        reason = CASE WHEN i.purpose = 'pay' THEN NULL ELSE o.reason END, updated_at = now()
      FROM locked l JOIN whole w ON w.txid = l.txid JOIN input i ON i.outgoing_id = l.id AND i.txid = l.txid
      WHERE o.id = l.id AND o.merchant_id = l.merchant_id
      RETURNING o.id, o.merchant_id, o.attempts, o.kind, o.payment_id, i.txid, i.bytes, i.nonce, i.purpose, i.fee_limit
    ), notified AS (
      -- settlements show that their transaction is on its way
      INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
      SELECT m.merchant_id, ${network}, m.txid, -1, 'submitted', jsonb_build_object(
        'withdrawalId', w.id, 'settlementId', w.settlement_id)
      FROM moved m JOIN book.withdrawal w ON w.id = m.payment_id AND w.merchant_id = m.merchant_id
      WHERE m.kind = 'settlement' AND m.purpose = 'pay' ON CONFLICT DO NOTHING
    ), stored AS (
      INSERT INTO book.attempt
        (outgoing_id, number, merchant_id, network, txid, bytes, nonce, purpose, place, intents, created_at, fee_limit, known_height)
      SELECT m.id, m.attempts, m.merchant_id, ${network}, m.txid, m.bytes, m.nonce, m.purpose,
        row_number() OVER together - 1, count(*) OVER (PARTITION BY m.txid), now(), m.fee_limit,
        (SELECT c.height FROM hub.cursor c WHERE c.network = ${network} AND c.view = 'solid')
      FROM moved m WINDOW together AS (PARTITION BY m.txid ORDER BY m.id) RETURNING txid
    )
    SELECT EXISTS (SELECT FROM turn) AS held, ARRAY(SELECT DISTINCT txid FROM stored) AS txids`;
  if (answer === undefined) throw new Error("Cannot commit signatures as the answer has no row");
  return answer.held ? new Set(answer.txids) : null;
}
