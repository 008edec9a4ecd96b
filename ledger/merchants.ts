import { writeBookAudit } from "./audit.ts";
import type { Sql } from "./database/connect.ts";
import type { Page, PageRequest } from "./lists/list_page.ts";
import { type AuditRow, type MerchantRow, type MerchantStatus, merchantTable } from "./rows.ts";

/** Reads the profile of a merchant; null where there is none of that id. */
export async function readMerchant(sql: Sql, merchantId: string): Promise<MerchantRow | null> {
  const [row] = await sql`SELECT m.* FROM book.merchant m WHERE m.merchant_id = ${merchantId}`;
  return row === undefined ? null : merchantTable.decode(row);
}

/** Which merchants are wanted; absent fields do not restrict. */
export interface MerchantFilter {
  readonly status?: MerchantStatus | undefined;
  /** Part of the name, whatever its case. */
  readonly name?: string | undefined;
  readonly resellerId?: string | undefined;
}

/** One page of all merchants, newest first. */
export async function listMerchants(
  sql: Sql,
  filter: MerchantFilter,
  { page, limit }: PageRequest,
): Promise<Page<MerchantRow>> {
  const { status, name, resellerId } = filter;
  const matching = sql`
    FROM book.merchant m WHERE true
      ${status === undefined ? sql`` : sql`AND m.status = ${status}`}
      ${name === undefined ? sql`` : sql`AND strpos(lower(m.name), lower(${name})) > 0`}
      ${resellerId === undefined ? sql`` : sql`AND m.reseller_id = ${resellerId}`}`;
  const [[counted], rows] = await Promise.all([
    sql<{ total: string }[]>`SELECT count(*) AS total ${matching}`,
    sql`SELECT m.* ${matching} ORDER BY m.merchant_id DESC
      OFFSET ${(page - 1) * limit}::bigint LIMIT ${limit}`,
  ]);
  return {
    total: Number(counted?.total ?? 0),
    rows: rows.map((row) => merchantTable.decode(row)),
  };
}

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
