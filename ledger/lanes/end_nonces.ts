/**
 * The end of nonces: a solid block holds a transaction of each, so that nothing else that was signed with it can
 * be in a block any more.
 *
 * @module
 */

import type { TransactionSql } from "postgres";
import { type Amount, formatAmount } from "../money/amount.ts";
import type { Network } from "../money/pair.ts";
import { shape } from "../shape.ts";
import { endInternalTransfers, type InternalEnd } from "../sweeps/steps.ts";
import { bigint, boolean, orNull, type RowOf, text } from "../table.ts";
import type { EndTestimony } from "../watcher/late_outcomes.ts";
import { NONCE_TAKEN } from "./cancel.ts";

/** End of a transfer by the transaction that used its nonce. */
export interface IntentEnd {
  readonly outgoingId: string;
  /** `unexpected`: it succeeded without the intended transfer; `cancelled`: it moved nothing, and was to move nothing. */
  readonly result: "paid" | "failed" | "unexpected" | "cancelled";
  readonly reason: string | null;
  /** Its share of the transaction's cost, in the chain's own coin. */
  readonly fee: Amount;
  /** The second node's word that it needed; absent: it needed none. */
  readonly second?: EndTestimony;
}

const usedShape = shape({
  /** `hot`, or a derivation index. */
  payer: text(),
  nonce: bigint(),
  /** The transaction in the block. */
  usedBy: text(),
  height: bigint(),
  /** The block's hash. */
  hash: text(),
  /** The bytes of a transaction that the service did not sign; null: it did. */
  foreignBytes: orNull(text()),
});
/** A nonce that a solid block shows in use. */
export interface NonceEnd extends RowOf<typeof usedShape> {
  /** Of all transfers that the transaction carries; of one that the service did not sign none. */
  readonly intents: readonly IntentEnd[];
}

const lockedShape = shape({
  id: text(),
  merchantId: text(),
  kind: text(),
  paymentId: orNull(text()),
  settlementId: orNull(text()),
  status: text(),
  payer: text(),
  nonce: bigint(),
  /** True where its nonce was used by what has moved the very terms of it, unknown to the books: it may have paid this one. */
  mayBePaid: boolean(),
});
type Locked = RowOf<typeof lockedShape>;

/** The reason that a merchant sees where an administrator asked for it. */
const CANCELLED_BY_HAND = "cancelled by an administrator before the network included it";
/** The reason kept with a transfer whose nonce another signer's transaction took. */
const FOREIGN = "a transaction that the service did not sign has its nonce";

/**
 * Ends nonces, everything that was signed with them, and what waits with them, in the transaction that is given:
 * transfers first, by id, then nonces, both locked. A transfer that was not moved goes back into the
 * queue without a nonce; where an administrator has taken it out of use, its merchant gives it back, unless the transaction
 * of another signer may have paid it; what is internal is planned anew.
 *
 * @returns the nonces that were open until now, and the merchants with a new inbox row
 * @throws where another transaction holds a row for longer than the `lock_timeout`
 */
export async function endNonces(
  tx: TransactionSql,
  network: Network,
  ends: readonly NonceEnd[],
): Promise<{ readonly ended: readonly NonceEnd[]; readonly notified: readonly string[] }> {
  const locked = lockedShape.all(
    await tx`
    SELECT o.id, o.merchant_id, o.kind, o.payment_id, o.status, n.payer, n.nonce,
      EXISTS (SELECT FROM hub.unknown_spend s WHERE s.network = o.network AND s.txid = f.used_by AND s.log_index >= 0
        AND s.status IN ('open', 'listed', 'cold') AND s.recipient = o.destination AND s.currency = o.currency AND s.amount = o.amount) AS may_be_paid,
      (SELECT w.settlement_id FROM book.withdrawal w
       WHERE w.id = o.payment_id AND w.merchant_id = o.merchant_id) AS settlement_id
    FROM ${usedShape.rows(tx, "f", ends)}
    JOIN book.lane_nonce n ON n.network = ${network} AND n.payer = f.payer AND n.nonce = f.nonce AND n.used_by IS NULL
    JOIN book.outgoing o ON o.id = ANY (n.intents) AND o.network = n.network AND o.nonce = n.nonce
    ORDER BY o.id FOR NO KEY UPDATE OF o`,
  );
  const used = await tx<{ payer: string; nonce: string; cancel_by: string | null }[]>`
    WITH open AS (
      SELECT n.payer, n.nonce, f.used_by, f.height, f.foreign_bytes FROM ${
    usedShape.rows(tx, "f", ends)
  }
      JOIN book.lane_nonce n ON n.network = ${network} AND n.payer = f.payer AND n.nonce = f.nonce
      WHERE n.used_by IS NULL ORDER BY n.payer, n.nonce FOR UPDATE OF n
    )
    UPDATE book.lane_nonce n SET used_by = o.used_by, height = o.height,
      foreign_hand = o.foreign_bytes IS NOT NULL, foreign_bytes = o.foreign_bytes
    FROM open o WHERE n.network = ${network} AND n.payer = o.payer AND n.nonce = o.nonce AND n.used_by IS NULL
    RETURNING n.payer, n.nonce, n.cancel_by`;
  const cancelBy = new Map(used.map((row) => [`${row.payer}/${row.nonce}`, row.cancel_by]));
  const keyOf = ({ payer, nonce }: Pick<NonceEnd, "payer" | "nonce">) => `${payer}/${nonce}`;
  const ended = ends.filter((end) => cancelBy.has(keyOf(end)));
  if (ended.length === 0) return { ended, notified: [] };
  await endAttempts(tx, network, ended);
  const byNonce = new Map(ended.map((end) => [keyOf(end), end]));
  const moves = locked.flatMap((row): Move[] => {
    const end = byNonce.get(keyOf(row));
    return end === undefined ? [] : [moveOf(row, end, cancelBy.get(keyOf(row)) ?? null)];
  });
  const notified = await moveAll(tx, network, moves);
  return { ended, notified };
}

/** The transactions in the blocks end as those show, all others of their nonces by them. */
async function endAttempts(
  tx: TransactionSql,
  network: Network,
  ends: readonly NonceEnd[],
): Promise<void> {
  const own = ends.flatMap(({ intents, ...end }) => intents.map((intent) => ({ ...end, intent })));
  await tx`
    UPDATE book.attempt a SET outcome = f.result, reason = f.reason, height = f.height, fee = f.fee,
      evidence = CASE WHEN f.second IS NULL THEN a.evidence ELSE jsonb_build_object('second', f.second::jsonb) END
    FROM unnest(${own.map(({ intent }) => intent.outgoingId)}::text[],
      ${own.map(({ usedBy }) => usedBy)}::text[],
      ${own.map(({ intent }) => intent.result)}::text[],
      ${own.map(({ intent }) => intent.reason)}::text[],
      ${own.map(({ height }) => height)}::bigint[],
      ${own.map(({ intent }) => formatAmount(intent.fee))}::numeric[],
      ${
    own.map(({ intent: { second } }) => second === undefined ? null : JSON.stringify(second))
  }::text[])
      AS f(outgoing_id, txid, result, reason, height, fee, second)
    WHERE a.network = ${network} AND a.outgoing_id = f.outgoing_id AND a.txid = f.txid AND a.outcome IS NULL`;
  await tx`
    UPDATE book.attempt a SET outcome = 'superseded', height = f.height,
      evidence = jsonb_build_object('height', f.height, 'hash', f.hash, 'by', f.used_by)
    FROM ${usedShape.rows(tx, "f", ends)}
    JOIN book.lane_nonce n ON n.network = ${network} AND n.payer = f.payer AND n.nonce = f.nonce
    WHERE a.network = n.network AND a.nonce = n.nonce AND a.outgoing_id = ANY (n.intents)
      AND a.outcome IS NULL AND a.txid <> f.used_by`;
}

/** Next state of a transfer whose nonce is used. */
interface Move {
  readonly row: Locked;
  readonly end: NonceEnd;
  readonly result: IntentEnd["result"];
  readonly reason: string | null;
  /** `kept`: it was not signed, or given up before, and only loses the nonce. */
  readonly to: "final" | "dead" | "queued" | "kept";
  /** True where its merchant gives the money back. */
  readonly isGivenUp: boolean;
}

function moveOf(row: Locked, end: NonceEnd, cancelBy: string | null): Move {
  const intent = end.intents.find(({ outgoingId }) => outgoingId === row.id);
  const result = intent?.result ?? "cancelled";
  const reason = end.foreignBytes !== null
    ? FOREIGN
    : result === "cancelled"
    ? NONCE_TAKEN
    : intent?.reason ??
      null;
  const move = { row, end, result, reason, isGivenUp: false } as const;
  if (row.status !== "signed") return { ...move, to: "kept" };
  if (result === "paid" || result === "unexpected") return { ...move, to: "final" };
  if (result === "failed" || row.paymentId === null) return { ...move, to: "dead" };
  // its money stays promised: it is paid by another transaction, unless it was to be paid by none; what has paid it, as far as
  // is known, is matched with it by an administrator, and stops signing until then
  return cancelBy === null || row.mayBePaid
    ? { ...move, to: "queued" }
    : { ...move, to: "dead", isGivenUp: true };
}

async function moveAll(
  tx: TransactionSql,
  network: Network,
  moves: readonly Move[],
): Promise<readonly string[]> {
  const idsOf = (...to: readonly Move["to"][]) =>
    moves.filter((move) => to.includes(move.to)).map(({ row }) => row.id);
  const over = moves.filter(({ to }) => to !== "kept");
  await tx`
    UPDATE book.outgoing o SET status = CASE WHEN f.is_final THEN 'final' ELSE 'dead' END, reason = f.reason,
      nonce = CASE WHEN f.is_final THEN o.nonce END, updated_at = now()
    FROM unnest(${over.map(({ row }) => row.id)}::text[], ${
    over.map(({ reason }) => reason)
  }::text[],
      ${over.map(({ to }) => String(to === "final"))}::text[]::boolean[]) AS f(id, reason, is_final)
    WHERE o.id = f.id AND o.status = 'signed'`;
  await tx`
    UPDATE book.outgoing SET nonce = NULL, updated_at = now()
    WHERE id = ANY (${idsOf("kept")}::text[]) AND nonce IS NOT NULL`;
  await tx`
    UPDATE book.outgoing SET status = 'queued', lease_until = NULL, updated_at = now()
    WHERE id = ANY (${idsOf("queued")}::text[]) AND status = 'dead'`;
  const internal = over.filter(({ row }) => row.paymentId === null);
  const notified = await endInternalTransfers(
    tx,
    network,
    internal.map(({ row, result, reason }): InternalEnd => ({
      outgoingId: row.id,
      kind: row.kind,
      result: result === "cancelled" ? "failed" : result,
      reason,
    })),
  );
  const payouts = over.filter(({ row, to }) => row.paymentId !== null && to !== "queued");
  await notifyPayouts(tx, network, payouts);
  return [...notified, ...payouts.map(({ row }) => row.merchantId)];
}

/** Writes the ends of payouts into their merchants' inboxes. */
async function notifyPayouts(
  tx: TransactionSql,
  network: Network,
  moves: readonly Move[],
): Promise<void> {
  if (moves.length === 0) return;
  const data = moves.map(({ row, end, result, reason, isGivenUp }) =>
    JSON.stringify({
      outgoingId: row.id,
      withdrawalId: row.paymentId,
      settlementId: row.settlementId,
      result: isGivenUp ? "abandoned" : result === "unexpected" ? "paid" : result,
      reason: isGivenUp ? CANCELLED_BY_HAND : reason,
      height: isGivenUp ? null : end.height,
    })
  );
  await tx`
    INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, quarantine, data)
    SELECT merchant_id, ${network}, txid, -1, 'outcome', quarantine, data::jsonb
    FROM unnest(${moves.map(({ row }) => row.merchantId)}::text[],
      ${moves.map(({ end }) => end.usedBy)}::text[],
      ${
    moves.map(({ result, reason }) => result === "unexpected" ? `unexpected: ${reason}` : null)
  }::text[],
      ${data}::text[]) AS f(merchant_id, txid, quarantine, data)
    ON CONFLICT DO NOTHING`;
}
