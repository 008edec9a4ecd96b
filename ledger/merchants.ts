import { writeBookAudit } from "./audit.ts";
import type { Sql } from "./database/connect.ts";
import { type Page, type PageRequest, readCountedPage } from "./lists/list_page.ts";
import { type AuditRow, type MerchantRow, type MerchantStatus, merchantTable } from "./rows.ts";

/** Reads the profile of a merchant; null where there is none of that id. */
export async function readMerchant(sql: Sql, merchantId: string): Promise<MerchantRow | null> {
  const [row] = await sql`SELECT m.* FROM book.merchant m WHERE m.merchant_id = ${merchantId}`;
  return row === undefined ? null : merchantTable.decode(row);
}

/** The merchants that are wanted; absent fields do not restrict. */
export interface MerchantFilter {
  readonly status?: MerchantStatus | undefined;
  /** Part of the name, whatever its case. */
  readonly name?: string | undefined;
  readonly resellerId?: string | undefined;
}

/** One page of all merchants, newest first. */
export async function listMerchants(
  sql: Sql,
  { status, name, resellerId }: MerchantFilter,
  request: PageRequest,
): Promise<Page<MerchantRow>> {
  const matching = sql`
    FROM book.merchant m WHERE true
      ${status === undefined ? sql`` : sql`AND m.status = ${status}`}
      ${name === undefined ? sql`` : sql`AND strpos(lower(m.name), lower(${name})) > 0`}
      ${resellerId === undefined ? sql`` : sql`AND m.reseller_id = ${resellerId}`}`;
  const { decode } = merchantTable;
  return await readCountedPage(sql, sql`m.*`, matching, sql`m.merchant_id DESC`, request, decode);
}

/**
 * Stores a new merchant with its empty account and its entry in the audit.
 *
 * @param merchant its `slot` is not used: the database computes it
 * @returns the row as it is stored
 */
export async function insertMerchant(
  sql: Sql,
  merchant: MerchantRow,
  audit: AuditRow,
): Promise<MerchantRow> {
  const { merchantId } = merchant;
  return await sql.begin(async (tx) => {
    await tx`
      INSERT INTO book.merchant SELECT * FROM unnest(${
      merchantTable.encode([merchant])
    }::book.merchant[])`;
    const [row] = await tx`
      UPDATE book.merchant SET slot = book.slot_of(merchant_id) WHERE merchant_id = ${merchantId}
      RETURNING *`;
    if (row === undefined) throw new Error("Cannot keep a merchant as no row was written");
    await tx`INSERT INTO book.account (merchant_id) VALUES (${merchantId})`;
    await writeBookAudit(tx, audit);
    return merchantTable.decode(row);
  });
}
