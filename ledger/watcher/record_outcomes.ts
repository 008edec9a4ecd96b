/**
 * The service's own transactions as blocks show them: those that were met, and the record of their ends.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { Sql, TransactionSql } from "postgres";
import { classifyDatabaseError, isRowLocked } from "../database/database_errors.ts";
import { ROW_WAIT, writeApart } from "../database/write_apart.ts";
import { type AttemptOutcome, movedNothing } from "../failover/belied_ends.ts";
import { type Amount, formatAmount } from "../money/amount.ts";
import type { Network, OutgoingAsset } from "../money/pair.ts";
import { shape } from "../shape.ts";
import { endNonces, type NonceEnd } from "../lanes/end_nonces.ts";
import { endInternalTransfers } from "../sweeps/steps.ts";
import { amount, bigint, integer, orNull, type RowOf, text } from "../table.ts";
import { type EndTestimony, listLateOutcomes } from "./late_outcomes.ts";

const ownShape = shape({
  outgoingId: text(),
  number: integer(),
  merchantId: text(),
  kind: text(),
  /** The withdrawal it pays, null for internal transfers. */
  paymentId: orNull(text()),
  settlementId: orNull(text()),
  txid: text(),
  currency: text<OutgoingAsset>(),
  amount: amount(),
  /** Derivation index of the paying address, or `hot`. */
  wallet: text(),
  destination: text(),
  /** `cancel`: it takes a nonce out of use that was promised to the transfer, and moves nothing of it. */
  purpose: text<"pay" | "cancel">(),
  /** Its number among its payer's transactions, null on chains that count none. */
  nonce: orNull(bigint()),
  /** Whose number that is: `hot`, or a derivation index. */
  payer: text(),
  /** Place of the transfer among those that its transaction carries, from 0 on. */
  place: integer(),
  /** Number of transfers that its transaction carries. */
  intents: integer(),
  /** The signed transaction, where its payer's transactions are counted. */
  bytes: orNull(text()),
  /** Null: it has none yet. One that had moved nothing before and is met with its transfer may be paid twice. */
  outcome: orNull(text<AttemptOutcome>()),
});
/** An own transaction that was met on the chain, with one of the transfers that it carries. */
export type OwnTransaction = RowOf<typeof ownShape>;

/**
 * Own transactions among the given ids that the chain has not decided, or that have moved nothing as far as is known, by
 * unique index; of one that carries several transfers all of these, whatever has ended already. The ids are
 * sent as one text: to quote each of thousands for an array costs the service three times as
 * much. Their number is hidden from the planner, see `findAddresses`.
 */
export async function findOwnTransactions(
  sql: Sql,
  network: Network,
  txids: readonly string[],
): Promise<readonly OwnTransaction[]> {
  if (txids.length === 0) return [];
  return ownShape.all(
    await sql`
    SELECT a.outgoing_id, a.number, a.merchant_id, o.kind, o.payment_id, w.settlement_id, a.txid, o.currency,
      o.amount, o.wallet, o.destination, a.purpose, a.nonce, book.payer_of(o.wallet, o.fee_payer) AS payer,
      a.place, a.intents, CASE WHEN a.nonce IS NOT NULL THEN a.bytes END AS bytes, a.outcome
    FROM book.attempt a JOIN book.outgoing o ON o.id = a.outgoing_id AND o.merchant_id = a.merchant_id
    LEFT JOIN book.withdrawal w ON w.id = o.payment_id AND w.merchant_id = o.merchant_id
    WHERE a.txid = ANY ((SELECT string_to_array(${
      txids.join(",")
    }, ','))::text[]) AND a.network = ${network}
      AND (a.outcome IS NULL OR ${movedNothing(sql)} OR a.intents > 1)`,
  );
}

/** The end of an own transaction, from a solid block. */
export interface OutcomeFinding {
  readonly own: OwnTransaction;
  /** `unexpected`: it succeeded, but not with the transfer that was intended. */
  readonly result: "paid" | "failed" | "unexpected" | "cancelled";
  readonly reason: string | null;
  readonly height: number;
  /** The second node's word that it needed; absent: it needed none. */
  readonly second?: EndTestimony;
  /** Hash of the block: the proof that ends what else was signed with its nonce, where it has one. */
  readonly hash?: string;
  /** The transfer's share of the transaction's cost, in the chain's own coin. */
  readonly fee: Amount;
}

/**
 * Records the ends of own transactions: the attempt's outcome and cost, the transfer's state,
 * and a line in the merchant's inbox, in one transaction. What was recorded already stays. As many
 * statements for a thousand as for one: blocks that end hundreds of sweeps must not hold the scan.
 *
 * An unexpected one is over as well: money may have left, so that nothing is signed or refunded
 * again. Its line is quarantined until an administrator has decided whether it counts as paid.
 *
 * Rows that another transaction holds are not waited for: what they keep from being written is
 * listed, so that its block is read again while the cursor moves on (see `late_outcomes.ts`). So is what a second node has to prove, and a nonce
 * whose end the schema refuses: it takes no other along, and deposits go on.
 *
 * @param unproven those of them that are listed as well, and not written, see `unprovenEnds`
 * @returns the merchants with a new inbox row
 */
export async function recordOutcomes(
  sql: Sql,
  network: Network,
  findings: readonly OutcomeFinding[],
  unproven: ReadonlySet<OutcomeFinding> = new Set(),
): Promise<ReadonlySet<string>> {
  const heard = new Set<string>();
  const left = new Set(findings);
  const proven = findings.filter((finding) => !unproven.has(finding));
  const record = async (part: readonly OutcomeFinding[]) => {
    const { moved, notified } = await recordTogether(sql, network, part);
    for (const finding of moved) left.delete(finding);
    for (const merchantId of notified) heard.add(merchantId);
  };
  // merchants first: what follows from the ends of sweeps needs rows of several tables
  const isPayout = ({ own }: OutcomeFinding) => own.paymentId !== null;
  const numbered = proven.filter(({ own }) => own.nonce !== null);
  const others = proven.filter(({ own }) => own.nonce === null);
  await writeApart(others.filter(isPayout), record);
  await writeApart(others.filter((finding) => !isPayout(finding)), record);
  // transfers that share a nonce end together, payouts or not
  await writeApart(nonceEndsOf(numbered), async (part) => {
    const { ended, notified } = await endTogether(sql, network, part);
    const over = new Set(ended.map(({ usedBy }) => usedBy));
    for (const finding of numbered) if (over.has(finding.own.txid)) left.delete(finding);
    for (const merchantId of notified) heard.add(merchantId);
  }, (error) => isRowLocked(error) || classifyDatabaseError(error) === "constraint");
  const late = [...left].map(({ own, height }) => ({ ...own, height }));
  const waiting = new Set([...unproven].map(({ own }) => own.outgoingId));
  for (const outgoingId of await listLateOutcomes(sql, network, late)) {
    const event = waiting.has(outgoingId) ? "transfer.end_unproven" : "transfer.end_held";
    logEvent(event, { network, outgoingId });
  }
  return heard;
}

/** The nonces that transactions in blocks have used, each with all that its transaction carries. */
function nonceEndsOf(findings: readonly OutcomeFinding[]): readonly NonceEnd[] {
  return [...Map.groupBy(findings, ({ own }) => own.txid).values()].flatMap(
    (together): NonceEnd[] => {
      const [first] = together;
      if (first === undefined || first.own.nonce === null) return [];
      const { own: { payer, nonce, txid: usedBy }, height, hash = "" } = first;
      const intents = together.map(({ own: { outgoingId }, ...end }) => ({ outgoingId, ...end }));
      return [{ payer, nonce, usedBy, height, hash, foreignBytes: null, intents }];
    },
  );
}

/**
 * Ends nonces in one transaction.
 *
 * @throws what the schema refuses; of a nonce alone it is logged, as its block is read again and the cursor moves on
 */
async function endTogether(sql: Sql, network: Network, part: readonly NonceEnd[]) {
  try {
    return await sql.begin(async (tx) => {
      await tx`SELECT set_config('lock_timeout', ${ROW_WAIT}, true)`;
      return await endNonces(tx, network, part);
    });
  } catch (error) {
    const [first] = part;
    if (part.length === 1 && first !== undefined && classifyDatabaseError(error) === "constraint") {
      const { payer, nonce, usedBy: txid } = first;
      logEvent("transfer.end_refused", { network, payer, nonce, txid, error });
    }
    throw error;
  }
}

/** Records ends in one transaction. @returns those that were not recorded before, and the merchants to wake */
async function recordTogether(
  sql: Sql,
  network: Network,
  findings: readonly OutcomeFinding[],
): Promise<{ readonly moved: readonly OutcomeFinding[]; readonly notified: readonly string[] }> {
  return await sql.begin(async (tx) => {
    await tx`SELECT set_config('lock_timeout', ${ROW_WAIT}, true)`;
    const moved = await endOutgoing(tx, findings);
    if (moved.length === 0) return { moved, notified: [] };
    await endAttempts(tx, moved);
    const notified = await endInternalTransfers(
      tx,
      network,
      moved.filter(({ own }) => own.paymentId === null).map(({ own, result, reason }) => ({
        outgoingId: own.outgoingId,
        kind: own.kind,
        result: result === "cancelled" ? "failed" : result,
        reason,
      })),
    );
    const payouts = moved.filter(({ own }) => own.paymentId !== null);
    await notifyPayouts(tx, network, payouts);
    return { moved, notified: [...notified, ...payouts.map(({ own }) => own.merchantId)] };
  });
}

/**
 * Moves transfers to their last state, but for those whose row or attempt another transaction holds.
 *
 * @returns those that had none, in the order of their ids
 */
async function endOutgoing(
  tx: TransactionSql,
  findings: readonly OutcomeFinding[],
): Promise<readonly OutcomeFinding[]> {
  const rows = await tx<{ id: string }[]>`
    WITH input AS (
      SELECT * FROM unnest(${findings.map(({ own }) => own.outgoingId)}::text[],
        ${findings.map(({ own }) => own.merchantId)}::text[],
        ${findings.map(({ own }) => own.number)}::int[],
        ${findings.map(({ result }) => result === "failed" ? "dead" : "final")}::text[],
        ${
    findings.map(({ reason }) => reason)
  }::text[]) AS f(id, merchant_id, number, status, reason)
    ), locked AS (
      SELECT o.id, o.merchant_id, f.status, f.reason FROM input f
      JOIN book.outgoing o ON o.id = f.id AND o.merchant_id = f.merchant_id AND o.status = 'signed'
      JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.number = f.number
      ORDER BY o.id FOR NO KEY UPDATE OF o, a SKIP LOCKED
    )
    UPDATE book.outgoing o SET status = l.status, reason = l.reason, updated_at = now()
    FROM locked l WHERE o.id = l.id AND o.merchant_id = l.merchant_id AND o.status = 'signed' RETURNING o.id`;
  const moved = new Set(rows.map(({ id }) => id));
  return findings.filter(({ own }) => moved.has(own.outgoingId))
    .sort((a, b) => a.own.outgoingId < b.own.outgoingId ? -1 : 1);
}

async function endAttempts(
  tx: TransactionSql,
  findings: readonly OutcomeFinding[],
): Promise<void> {
  await tx`
    UPDATE book.attempt a SET outcome = f.result, reason = f.reason, height = f.height, fee = f.fee,
      evidence = CASE WHEN f.second IS NULL THEN a.evidence ELSE jsonb_build_object('second', f.second::jsonb) END
    FROM unnest(${findings.map(({ own }) => own.outgoingId)}::text[],
      ${findings.map(({ own }) => own.number)}::int[],
      ${findings.map(({ own }) => own.merchantId)}::text[],
      ${findings.map(({ result }) => result)}::text[],
      ${findings.map(({ reason }) => reason)}::text[],
      ${findings.map(({ height }) => height)}::bigint[],
      ${findings.map(({ fee }) => formatAmount(fee))}::numeric[],
      ${findings.map(({ second }) => second === undefined ? null : JSON.stringify(second))}::text[])
      AS f(outgoing_id, number, merchant_id, result, reason, height, fee, second)
    WHERE a.outgoing_id = f.outgoing_id AND a.number = f.number AND a.merchant_id = f.merchant_id
      AND a.outcome IS NULL`;
}

/** Writes the ends of payouts into their merchants' inboxes. */
async function notifyPayouts(
  tx: TransactionSql,
  network: Network,
  findings: readonly OutcomeFinding[],
): Promise<void> {
  if (findings.length === 0) return;
  const data = findings.map(({ own, result, reason, height }) =>
    JSON.stringify({
      outgoingId: own.outgoingId,
      withdrawalId: own.paymentId,
      settlementId: own.settlementId,
      result: result === "unexpected" ? "paid" : result,
      reason,
      height,
    })
  );
  await tx`
    INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, quarantine, data)
    SELECT merchant_id, ${network}, txid, -1, 'outcome', quarantine, data::jsonb
    FROM unnest(${findings.map(({ own }) => own.merchantId)}::text[],
      ${findings.map(({ own }) => own.txid)}::text[],
      ${
    findings.map(({ result, reason }) => result === "unexpected" ? `unexpected: ${reason}` : null)
  }::text[],
      ${data}::text[]) AS f(merchant_id, txid, quarantine, data)
    ON CONFLICT DO NOTHING`;
}
