import type { AnySql } from "../database/connect.ts";
import { formatAmount } from "../money/amount.ts";
import type { Network } from "../money/pair.ts";
import type { TransferFinding } from "../watcher/record_findings.ts";

/**
 * Notes final transfers to addresses of ours as to be swept; known ones are left alone.
 *
 * The row of an address that another transaction holds is not waited for, or one address would stop
 * the scan of its network: the address is listed in the same statement and noted as soon as its row
 * is free (see `note_late_targets.ts`). The entry is updated where there is one, so that nobody takes
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
      SELECT w.*, f.is_free IS NOT NULL AS is_free, EXISTS (SELECT FROM book.sweep_target t
        WHERE t.network = ${network} AND t.address = w.address AND t.currency = w.currency) AS is_known
      FROM wanted w LEFT JOIN LATERAL (
        SELECT true AS is_free FROM book.sweep_target t
        WHERE t.network = ${network} AND t.address = w.address AND t.currency = w.currency
        FOR NO KEY UPDATE SKIP LOCKED) f ON true
    ), touched AS (
      UPDATE book.sweep_target t SET touched = t.touched + 1, look_at = now() FROM place p
      WHERE p.is_free AND t.network = ${network} AND t.address = p.address AND t.currency = p.currency
    ), late AS (
      INSERT INTO book.late_sweep_target (network, address, currency, merchant_id)
      SELECT ${network}, address, currency, merchant_id FROM place WHERE is_known AND NOT is_free
      ORDER BY address, currency
      ON CONFLICT (network, address, currency) DO UPDATE SET merchant_id = excluded.merchant_id
    )
    INSERT INTO book.sweep_target AS t (network, address, currency, merchant_id)
    SELECT ${network}, address, currency, merchant_id FROM place WHERE NOT is_known ORDER BY address, currency
    ON CONFLICT (network, address, currency) DO UPDATE SET touched = t.touched + 1, look_at = now()`;
}
