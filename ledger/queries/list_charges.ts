import type { Sql } from "../database/connect.ts";
import { type ChargeRow, chargeTable } from "../rows.ts";
import type { ListFilter } from "./list_filter.ts";
import { pageOf, type PageRequest } from "./list_page.ts";

/** A charge, and the settlement whose payout it was taken for. */
export interface ListedCharge extends ChargeRow {
  readonly settlementId: string | null;
}

/** Which charges are wanted; an absent or undefined field does not restrict. */
export type ChargeFilter = Pick<ListFilter, "type" | "currency" | "network" | "from" | "until">;

/** One page of a merchant's charges, newest first. */
export async function listCharges(
  sql: Sql,
  merchantId: string,
  { type, currency, network, from, until }: ChargeFilter,
  request: PageRequest,
): Promise<readonly ListedCharge[]> {
  const filter = { type, currency, network, from, until };
  const rows = await sql`
    WITH ${pageOf(sql, "charge", merchantId, filter, request)}
    SELECT p.*, w.settlement_id FROM page p
    LEFT JOIN book.withdrawal w ON w.id = p.payment_id AND w.merchant_id = p.merchant_id
    ORDER BY p.seq DESC`;
  return rows.map((row) => ({
    ...chargeTable.decode(row),
    settlementId: row["settlement_id"] as string | null,
  }));
}
