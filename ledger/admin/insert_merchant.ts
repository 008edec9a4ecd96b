import type { Sql } from "../database/connect.ts";
import { type AuditRow, type MerchantRow, merchantTable } from "../rows.ts";
import { writeBookAudit } from "./write_book_audit.ts";

/**
 * Keeps a new merchant with its empty account and its line of the audit.
 *
 * @param merchant its `slot` is not used: the database computes it
 * @returns the row as it is kept
 */
export async function insertMerchant(
  sql: Sql,
  merchant: MerchantRow,
  audit: AuditRow,
): Promise<MerchantRow> {
  return await sql.begin(async (tx) => {
    const [row] = await tx<Record<string, unknown>[]>`
      INSERT INTO book.merchant
      SELECT m.merchant_id, book.slot_of(m.merchant_id), m.status, m.name, m.deposit_commission_rate,
        m.direct_deposit_fee, m.webhook_url, m.webhook_secret, m.webhook_secret_previous,
        m.webhook_previous_until, m.webhook_enabled, m.webhook_events, m.webhook_timeout_ms,
        m.webhook_retry_count, m.success_url, m.failure_url, m.page_origins, m.logo_color,
        m.rate_limits, m.reseller_id, m.margin_rate, m.margin_beneficiary, m.created_at
      FROM unnest(${merchantTable.encode([merchant])}::book.merchant[]) m RETURNING *`;
    if (row === undefined) throw new Error("Cannot keep a merchant as no row was written");
    await tx`INSERT INTO book.account (merchant_id) VALUES (${merchant.merchantId})`;
    await writeBookAudit(tx, audit);
    return merchantTable.decode(row);
  });
}
