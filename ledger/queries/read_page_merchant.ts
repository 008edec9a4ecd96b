import type { Sql } from "../database/connect.ts";
import type { MerchantRow } from "../rows.ts";

/** What a hosted payment page shows of its merchant. */
export type PageMerchant = Pick<
  MerchantRow,
  "name" | "successUrl" | "failureUrl" | "pageOrigins" | "logoColor" | "resellerId"
>;

/**
 * Reads what a hosted payment page shows of a merchant.
 *
 * @throws {Error} when there is no such merchant: a page always belongs to one
 */
export async function readPageMerchant(sql: Sql, merchantId: string): Promise<PageMerchant> {
  const [row] = await sql<PageMerchant[]>`
    SELECT name, success_url AS "successUrl", failure_url AS "failureUrl",
      page_origins AS "pageOrigins", logo_color AS "logoColor", reseller_id AS "resellerId"
    FROM book.merchant WHERE merchant_id = ${merchantId}`;
  if (row === undefined) {
    throw new Error(`Cannot show a page as its merchant does not exist: ${merchantId}`);
  }
  return row;
}
