import type { Sql } from "../database/connect.ts";
import type { MerchantRow } from "../rows.ts";

/** What a hosted payment page shows of its merchant. */
export interface PageMerchant
  extends Pick<MerchantRow, "name" | "successUrl" | "failureUrl" | "pageOrigins" | "logoColor"> {
  /** Name of who provides the page to the merchant, where somebody does. */
  readonly reseller: string | null;
}

/**
 * Reads what a hosted payment page shows of a merchant.
 *
 * @throws {Error} when there is no such merchant: a page always belongs to one
 */
export async function readPageMerchant(sql: Sql, merchantId: string): Promise<PageMerchant> {
  const [row] = await sql<PageMerchant[]>`
    SELECT m.name, m.success_url AS "successUrl", m.failure_url AS "failureUrl",
      m.page_origins AS "pageOrigins", m.logo_color AS "logoColor", r.name AS reseller
    FROM book.merchant m LEFT JOIN hub.reseller r ON r.id = m.reseller_id
    WHERE m.merchant_id = ${merchantId}`;
  if (row === undefined) {
    throw new Error(`Cannot show a page as its merchant does not exist: ${merchantId}`);
  }
  return row;
}
