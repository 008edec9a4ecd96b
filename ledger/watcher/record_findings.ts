import type { Sql, TransactionSql } from "postgres";
import { LOST_ACCOUNT, LOST_REASON } from "../addresses/lost_account.ts";
import { type Amount, formatAmount } from "../amount.ts";
import type { Currency, Network } from "../pair.ts";
import { endHouseTransfers } from "../sweeps/end_house_transfers.ts";
import { recordSweepItems } from "../sweeps/record_sweep_items.ts";
import type { OwnTransaction } from "./find_own_transactions.ts";

/** A transfer to an address of a merchant. */
export interface TransferFinding {
  readonly merchantId: string;
  readonly addressId: string;
  readonly txid: string;
  readonly logIndex: number;
  readonly currency: Currency;
  readonly amount: Amount;
  readonly from: string;
  readonly to: string;
  readonly height: number;
  readonly expiresAt: number;
}

/** The end of a transaction of ours, from a solid block. */
export interface OutcomeFinding {
  readonly own: OwnTransaction;
  /** `unexpected`: it succeeded, but not with the transfer that was intended. */
  readonly result: "paid" | "failed" | "unexpected";
  readonly reason: string | null;
  readonly height: number;
  /** What the chain took for it, in its own coin. */
  readonly fee: Amount;
}

/** Writes transfers into their merchants' inboxes; known ones are left alone. */
export async function recordTransfers(
  sql: Sql,
  network: Network,
  phase: "seen" | "solid",
  findings: readonly TransferFinding[],
): Promise<void> {
  if (findings.length === 0) return;
  // before the inbox: what is booked is surely noted to be swept
  if (phase === "solid") await recordSweepItems(sql, network, findings);
  const data = findings.map((finding) =>
    JSON.stringify({
      currency: finding.currency,
      amount: formatAmount(finding.amount),
      from: finding.from,
      to: finding.to,
      addressId: finding.addressId,
      height: finding.height,
      expiresAt: finding.expiresAt,
    })
  );
  await sql`
    INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data, quarantine)
    SELECT merchant_id, ${network}, txid, log_index, ${phase}, data::jsonb,
      CASE WHEN merchant_id = ${LOST_ACCOUNT} THEN ${LOST_REASON} END
    FROM unnest(
      ${findings.map((finding) => finding.merchantId)}::text[],
      ${findings.map((finding) => finding.txid)}::text[],
      ${findings.map((finding) => finding.logIndex)}::int[],
      ${data}::text[]) AS f(merchant_id, txid, log_index, data)
    ON CONFLICT DO NOTHING`;
}

/**
 * Records the end of transactions of ours: the attempt's outcome and cost, the transfer's state,
 * and a line in the merchant's inbox, in one transaction. What was recorded already stays. As many
 * statements for a thousand as for one: blocks that end hundreds of sweeps must not hold the scan.
 *
 * An unexpected one is over as well: money may have left, so that nothing is signed or refunded
 * again. Its line is set aside for the operator, who knows better whether to call it paid.
 *
 * @returns the merchants that have something to hear
 */
export async function recordOutcomes(
  sql: Sql,
  network: Network,
  findings: readonly OutcomeFinding[],
): Promise<ReadonlySet<string>> {
  if (findings.length === 0) return new Set();
  return await sql.begin(async (tx) => {
    const moved = await endOutgoing(tx, findings);
    if (moved.length === 0) return new Set<string>();
    await endAttempts(tx, moved);
    const heard = await endHouseTransfers(
      tx,
      network,
      moved.filter(({ own }) => own.paymentId === null).map(({ own, result, reason }) => ({
        outgoingId: own.outgoingId,
        kind: own.kind,
        result,
        reason,
      })),
    );
    const payouts = moved.filter(({ own }) => own.paymentId !== null);
    await tellPayouts(tx, network, payouts);
    return new Set([...heard, ...payouts.map(({ own }) => own.merchantId)]);
  });
}

/** Moves transfers to their last state. @returns those that had none, in the order of their ids */
async function endOutgoing(
  tx: TransactionSql,
  findings: readonly OutcomeFinding[],
): Promise<readonly OutcomeFinding[]> {
  // locked one after the other: two nodes that read the same blocks wait for each other, and no more
  await tx`
    SELECT FROM book.outgoing WHERE id = ANY (${findings.map(({ own }) => own.outgoingId)}::text[])
    ORDER BY id FOR UPDATE`;
  const rows = await tx<{ id: string }[]>`
    UPDATE book.outgoing o SET status = f.status, reason = f.reason, updated_at = now()
    FROM unnest(${findings.map(({ own }) => own.outgoingId)}::text[],
      ${findings.map(({ own }) => own.merchantId)}::text[],
      ${findings.map(({ result }) => result === "failed" ? "dead" : "final")}::text[],
      ${findings.map(({ reason }) => reason)}::text[]) AS f(id, merchant_id, status, reason)
    WHERE o.id = f.id AND o.merchant_id = f.merchant_id AND o.status = 'signed' RETURNING o.id`;
  const moved = new Set(rows.map(({ id }) => id));
  return findings.filter(({ own }) => moved.has(own.outgoingId))
    .sort((a, b) => a.own.outgoingId < b.own.outgoingId ? -1 : 1);
}

async function endAttempts(
  tx: TransactionSql,
  findings: readonly OutcomeFinding[],
): Promise<void> {
  await tx`
    UPDATE book.attempt a SET outcome = f.result, reason = f.reason, height = f.height, fee = f.fee
    FROM unnest(${findings.map(({ own }) => own.outgoingId)}::text[],
      ${findings.map(({ own }) => own.number)}::int[],
      ${findings.map(({ own }) => own.merchantId)}::text[],
      ${findings.map(({ result }) => result)}::text[],
      ${findings.map(({ reason }) => reason)}::text[],
      ${findings.map(({ height }) => height)}::bigint[],
      ${findings.map(({ fee }) => formatAmount(fee))}::numeric[])
      AS f(outgoing_id, number, merchant_id, result, reason, height, fee)
    WHERE a.outgoing_id = f.outgoing_id AND a.number = f.number AND a.merchant_id = f.merchant_id
      AND a.outcome IS NULL`;
}

/** Writes the ends of payouts into their merchants' inboxes. */
async function tellPayouts(
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

/**
 * Tells a merchant that a transfer it saw is proven never to become final. A transfer that was met
 * in a solid block has not vanished, also where its row waits (for a pair to be enabled, say).
 *
 * @returns whether the merchant was told, now or before
 */
export async function recordVanished(
  sql: Sql,
  key: {
    readonly merchantId: string;
    readonly network: Network;
    readonly txid: string;
    readonly logIndex: number;
  },
  data: { readonly reason: string; readonly to: string },
): Promise<boolean> {
  const { merchantId, network, txid, logIndex } = key;
  const [row] = await sql<{ vanished: boolean }[]>`
    WITH met AS (
      SELECT FROM book.inbox WHERE merchant_id = ${merchantId} AND network = ${network}
        AND txid = ${txid} AND log_index = ${logIndex} AND phase = 'solid'
    ), told AS (
      INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
      SELECT ${merchantId}, ${network}, ${txid}, ${logIndex}, 'vanished', ${
    JSON.stringify(data)
  }::text::jsonb
      WHERE NOT EXISTS (SELECT FROM met) ON CONFLICT DO NOTHING
    )
    SELECT NOT EXISTS (SELECT FROM met) AS vanished`;
  return row?.vanished === true;
}
