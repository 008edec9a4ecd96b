import type { Sql } from "../database/connect.ts";
import type { Page, PageRequest } from "../queries/list_page.ts";
import { type SettlementAddressRow, settlementAddressTable } from "../rows.ts";

/** Which addresses are wanted; absent fields do not restrict. */
export interface WhitelistFilter {
  readonly active?: boolean | undefined;
  readonly merchantId?: string | undefined;
}

/** One page of all merchants' settlement addresses that are not removed, newest first. */
export async function listWhitelist(
  sql: Sql,
  { active, merchantId }: WhitelistFilter,
  { page, limit }: PageRequest,
): Promise<Page<SettlementAddressRow>> {
  const matching = sql`
    FROM book.settlement_address a WHERE a.removed_at IS NULL
      ${active === undefined ? sql`` : sql`AND a.active = ${active}`}
      ${merchantId === undefined ? sql`` : sql`AND a.merchant_id = ${merchantId}`}`;
  const [[counted], rows] = await Promise.all([
    sql<{ total: string }[]>`SELECT count(*) AS total ${matching}`,
    sql`SELECT a.* ${matching} ORDER BY a.id DESC OFFSET ${
      (page - 1) * limit
    }::bigint LIMIT ${limit}`,
  ]);
  return {
    total: Number(counted?.total ?? 0),
    rows: rows.map((row) => settlementAddressTable.decode(row)),
  };
}
