import type { Sql } from "../database/connect.ts";
import type { Page, PageRequest } from "../queries/list_page.ts";
import { type ResellerRecord, resellerRecord } from "./reseller_record.ts";

/**
 * One page of resellers, newest first.
 *
 * @param merchantId only the reseller that owns this account; null: all
 */
export async function listResellers(
  sql: Sql,
  merchantId: string | null,
  { page, limit }: PageRequest,
): Promise<Page<ResellerRecord>> {
  const matching = sql`
    FROM hub.reseller ${merchantId === null ? sql`` : sql`WHERE merchant_id = ${merchantId}`}`;
  const [[counted], rows] = await Promise.all([
    sql<{ total: string }[]>`SELECT count(*) AS total ${matching}`,
    sql`SELECT * ${matching} ORDER BY id DESC
      OFFSET ${(page - 1) * limit}::bigint LIMIT ${limit}`,
  ]);
  return { total: Number(counted?.total ?? 0), rows: rows.map(resellerRecord) };
}
