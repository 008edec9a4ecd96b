import type { Sql, TransactionSql } from "postgres";
import type { AnySql } from "../database/connect.ts";
import { type Amount, amountOf, formatAmount } from "../money/amount.ts";
import type { Network } from "../money/pair.ts";
import { PLATFORM_ACCOUNT } from "../own_accounts.ts";
import type { TransferFinding } from "../watcher/findings.ts";
import type { OpenItem } from "./sweep_facts.ts";
import type { SweepAddress } from "./targets.ts";

/**
 * Notes final transfers to own addresses as to be swept; known ones are left alone.
 *
 * The row of an address that another transaction holds is not waited for, or one address would stop
 * the scan of its network: the address is listed in the same statement and noted as soon as its row
 * is free (see `targets.ts`). The entry is updated where there is one, so that nobody takes
 * it off the list before these transfers are committed.
 */
export async function recordSweepItems(
  sql: AnySql,
  network: Network,
  findings: readonly TransferFinding[],
): Promise<void> {
  await sql`
    WITH found AS (
      INSERT INTO book.sweep_item (merchant_id, network, txid, log_index, address, currency, amount, height)
      SELECT merchant_id, ${network}, txid, log_index, address, currency, amount, height FROM unnest(
        ${findings.map((finding) => finding.merchantId)}::text[],
        ${findings.map((finding) => finding.txid)}::text[],
        ${findings.map((finding) => finding.logIndex)}::int[],
        ${findings.map((finding) => finding.to)}::text[],
        ${findings.map((finding) => finding.currency)}::text[],
        ${findings.map((finding) => formatAmount(finding.amount))}::numeric[],
        ${findings.map((finding) => finding.height)}::bigint[])
        AS f(merchant_id, txid, log_index, address, currency, amount, height)
      ON CONFLICT DO NOTHING RETURNING merchant_id, address, currency
    ), wanted AS MATERIALIZED (
      SELECT DISTINCT ON (address, currency) address, currency, merchant_id FROM found ORDER BY address, currency
    ), place AS MATERIALIZED (
      SELECT w.*, f.is_free IS NOT NULL AS is_free, EXISTS (SELECT FROM book.sweep_address t
        WHERE t.network = ${network} AND t.address = w.address AND t.currency = w.currency) AS is_known
      FROM wanted w LEFT JOIN LATERAL (
        SELECT true AS is_free FROM book.sweep_address t
        WHERE t.network = ${network} AND t.address = w.address AND t.currency = w.currency
        FOR NO KEY UPDATE SKIP LOCKED) f ON true
    ), touched AS (
      UPDATE book.sweep_address t SET touched = t.touched + 1, look_at = now() FROM place p
      WHERE p.is_free AND t.network = ${network} AND t.address = p.address AND t.currency = p.currency
    ), late AS (
      INSERT INTO book.late_sweep_address (network, address, currency, merchant_id)
      SELECT ${network}, address, currency, merchant_id FROM place WHERE is_known AND NOT is_free
      ORDER BY address, currency
      ON CONFLICT (network, address, currency) DO UPDATE SET merchant_id = excluded.merchant_id
    )
    INSERT INTO book.sweep_address AS t (network, address, currency, merchant_id)
    SELECT ${network}, address, currency, merchant_id FROM place WHERE NOT is_known ORDER BY address, currency
    ON CONFLICT (network, address, currency) DO UPDATE SET touched = t.touched + 1, look_at = now()`;
}

/**
 * Gives the transfers of sweeps that were given up back to the planner. The schema refuses it for a
 * sweep that may still land.
 */
export async function releaseSweepItems(
  sql: AnySql,
  outgoingIds: readonly string[],
): Promise<void> {
  if (outgoingIds.length === 0) return;
  await sql`
    UPDATE book.sweep_item SET outgoing_id = NULL
    WHERE outgoing_id = ANY (${[...outgoingIds]}::text[]) AND NOT done`;
}

/** A final sweep that moved more than it lists. */
export interface SpareSweep {
  readonly outgoingId: string;
  readonly spare: Amount;
  /** Its block; nothing that came later was there to be moved. */
  readonly height: number;
}

/**
 * Final sweeps of an address that moved more than they list: what came in while they were planned,
 * or was paid before its address was watched and claimed later.
 */
export async function readSpareSweeps(
  sql: Sql,
  target: SweepAddress,
): Promise<readonly SpareSweep[]> {
  const rows = await sql<{ id: string; spare: string; height: string }[]>`
    SELECT id, trim_scale(spare)::text AS spare, height FROM (
      SELECT o.id, a.height, CASE a.outcome WHEN 'paid' THEN o.amount ELSE v.arrived END
        - coalesce((SELECT sum(i.amount) FROM book.sweep_item i WHERE i.outgoing_id = o.id), 0) AS spare
      FROM book.outgoing o JOIN book.attempt a
        ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome IN ('paid', 'unexpected')
      LEFT JOIN book.sweep_verdict v ON v.outgoing_id = o.id
      WHERE o.network = ${target.network} AND o.wallet = ${
    String(target.walletIndex)
  } AND o.wallet <> 'hot'
        AND o.currency = ${target.currency} AND o.merchant_id = ${PLATFORM_ACCOUNT} AND o.status = 'final') s
    WHERE spare > 0 ORDER BY id`;
  return rows.map(({ id, spare, height }) => ({
    outgoingId: id,
    spare: amountOf(spare),
    height: Number(height),
  }));
}

/**
 * Lists transfers under a final sweep that has moved them already, and tells who waits for that.
 *
 * @returns the merchants that have something to hear; null: something happened to the address
 */
export async function attachToSweep(
  sql: Sql,
  target: SweepAddress,
  outgoingId: string,
  items: readonly OpenItem[],
): Promise<readonly string[] | null> {
  return await sql.begin(async (tx) => {
    const held = await tx`
      UPDATE book.sweep_address SET touched = touched + 1, look_at = now()
      WHERE network = ${target.network} AND address = ${target.address} AND currency = ${target.currency}
        AND touched = ${target.touched} RETURNING 1`;
    if (held.length === 0) return null;
    await cover(tx, target, outgoingId, items);
    return await notifySwept(tx, [outgoingId]);
  });
}

/**
 * Tells merchants that their top-ups were carried to the hot wallet by final sweeps, and closes what
 * nobody waits for. A top-up that its merchant has not booked yet (its pair takes no deposits now)
 * stays open; saying it again later changes nothing that was said.
 *
 * @returns the merchants that have something to hear
 */
export async function notifySwept(
  sql: AnySql,
  outgoingIds: readonly string[],
): Promise<readonly string[]> {
  if (outgoingIds.length === 0) return [];
  const rows = await sql<{ merchant_id: string }[]>`
    WITH item AS MATERIALIZED (
      SELECT merchant_id, network, txid, log_index, address, outgoing_id FROM book.sweep_item
      WHERE outgoing_id = ANY (${[...outgoingIds]}::text[]) AND NOT done
      ORDER BY network, txid, log_index, merchant_id FOR UPDATE
    ), carried AS (
      SELECT i.*, a.txid AS sweep, a.height FROM item i
      JOIN book.outgoing o ON o.id = i.outgoing_id AND o.merchant_id = ${PLATFORM_ACCOUNT}
        AND o.kind = 'sweep' AND o.status = 'final'
      JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id
      LEFT JOIN book.sweep_verdict v ON v.outgoing_id = o.id
      WHERE a.outcome = 'paid' OR a.outcome = 'unexpected' AND v.verdict = 'moved'
    ), waiting AS (
      SELECT c.* FROM carried c
      JOIN book.deposit_address w ON w.network = c.network AND w.address = c.address
        AND w.merchant_id = c.merchant_id AND w.kind = 'top_up'
    ), told AS (
      INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
      SELECT w.merchant_id, w.network, w.txid, w.log_index, 'swept', jsonb_build_object(
        'to', w.address, 'outgoingId', w.outgoing_id, 'sweepTxid', w.sweep, 'height', w.height)
      FROM waiting w JOIN book.deposit d ON d.merchant_id = w.merchant_id AND d.network = w.network
        AND d.txid = w.txid AND d.log_index = w.log_index AND d.expires_at IS NULL
      ON CONFLICT DO NOTHING
      RETURNING merchant_id, network, txid, log_index
    ), closed AS (
      UPDATE book.sweep_item i SET done = true FROM carried c
      WHERE i.merchant_id = c.merchant_id AND i.network = c.network AND i.txid = c.txid AND i.log_index = c.log_index
        AND (NOT EXISTS (SELECT FROM waiting w WHERE w.merchant_id = c.merchant_id AND w.network = c.network
               AND w.txid = c.txid AND w.log_index = c.log_index)
          OR EXISTS (SELECT FROM told t WHERE t.merchant_id = c.merchant_id AND t.network = c.network
               AND t.txid = c.txid AND t.log_index = c.log_index)
          OR EXISTS (SELECT FROM book.inbox x WHERE x.merchant_id = c.merchant_id AND x.network = c.network
               AND x.txid = c.txid AND x.log_index = c.log_index AND x.phase = 'swept')
          -- a deposit booked by hand has claimed the whole transaction and was confirmed by its operator
          OR EXISTS (SELECT FROM book.deposit d WHERE d.merchant_id = c.merchant_id AND d.network = c.network
               AND d.txid = c.txid AND d.log_index IN (c.log_index, -1) AND d.status = 'CONFIRMED'))
    )
    SELECT DISTINCT merchant_id FROM told`;
  return rows.map((row) => row.merchant_id);
}

/**
 * Lists transfers under a sweep.
 *
 * @throws when one of them is carried already: whoever plans holds the address
 */
export async function cover(
  tx: TransactionSql,
  target: SweepAddress,
  outgoingId: string,
  items: readonly OpenItem[],
): Promise<void> {
  if (items.length === 0) return;
  const { count } = await tx`
    UPDATE book.sweep_item i SET outgoing_id = ${outgoingId}
    FROM unnest(${items.map((item) => item.merchantId)}::text[], ${
    items.map((item) => item.txid)
  }::text[], ${items.map((item) => item.logIndex)}::int[]) AS k(merchant_id, txid, log_index)
    WHERE i.merchant_id = k.merchant_id AND i.network = ${target.network} AND i.txid = k.txid
      AND i.log_index = k.log_index AND i.outgoing_id IS NULL AND NOT i.done`;
  if (count !== items.length) {
    throw new Error(`Cannot list transfers as some are carried already: ${target.address}`);
  }
}
