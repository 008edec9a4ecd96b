import type { Sql } from "postgres";
import { LOST_ACCOUNT, LOST_REASON } from "../addresses/lost_account.ts";
import { type Amount, formatAmount } from "../amount.ts";
import type { Currency, Network } from "../pair.ts";
import { endHouseTransfer } from "../sweeps/end_house_transfer.ts";
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
 * and a line in the merchant's inbox, in one transaction. What was recorded already stays.
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
  const told = new Set<string>();
  if (findings.length === 0) return told;
  const sorted = [...findings].sort((a, b) => a.own.outgoingId < b.own.outgoingId ? -1 : 1);
  await sql.begin(async (tx) => {
    for (const { own, result, reason, height, fee } of sorted) {
      const moved = await tx`
        UPDATE book.outgoing SET status = ${
        result === "failed" ? "dead" : "final"
      }, reason = ${reason}, updated_at = now()
        WHERE id = ${own.outgoingId} AND merchant_id = ${own.merchantId} AND status = 'signed' RETURNING 1`;
      if (moved.length === 0) continue;
      await tx`
        UPDATE book.attempt SET outcome = ${result}, reason = ${reason}, height = ${height}, fee = ${
        formatAmount(fee)
      }
        WHERE outgoing_id = ${own.outgoingId} AND number = ${own.number} AND merchant_id = ${own.merchantId}
          AND outcome IS NULL`;
      if (own.paymentId === null) {
        const heard = await endHouseTransfer(tx, network, {
          outgoingId: own.outgoingId,
          kind: own.kind,
          result,
          reason,
        });
        for (const merchantId of heard) told.add(merchantId);
        continue;
      }
      told.add(own.merchantId);
      const isUnexpected = result === "unexpected";
      await tx`
        INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, quarantine, data)
        VALUES (${own.merchantId}, ${network}, ${own.txid}, -1, 'outcome', ${
        isUnexpected ? `unexpected: ${reason}` : null
      }, ${
        tx.json({
          outgoingId: own.outgoingId,
          withdrawalId: own.paymentId,
          settlementId: own.settlementId,
          result: isUnexpected ? "paid" : result,
          reason,
          height,
        })
      }) ON CONFLICT DO NOTHING`;
    }
  });
  return told;
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
