import type { Sql } from "../database/connect.ts";
import type { Page, PageRequest } from "../queries/list_page.ts";
import { type MerchantRow, type MerchantStatus, merchantTable } from "../rows.ts";

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
