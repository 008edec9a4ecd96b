import type { AnySql } from "../database/connect.ts";
import { formatAmount } from "../amount.ts";
import type { Network } from "../pair.ts";
import type { TransferFinding } from "../watcher/record_findings.ts";

/** Notes final transfers to our addresses as to be swept; known ones are left alone. */
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
      ON CONFLICT DO NOTHING RETURNING merchant_id, network, address, currency
    )
    INSERT INTO book.sweep_target AS t (network, address, currency, merchant_id)
    SELECT DISTINCT ON (network, address, currency) network, address, currency, merchant_id
    FROM found ORDER BY network, address, currency
    ON CONFLICT (network, address, currency) DO UPDATE SET touched = t.touched + 1, look_at = now()`;
}
