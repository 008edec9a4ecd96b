import type { Sql } from "./database/connect.ts";
import { pageOf, type PageRequest } from "./lists/list_page.ts";
import { type ListFilter, ListQuery } from "./lists/list_query.ts";
import type { Currency, Network } from "./money/pair.ts";
import { type ChargeRow, chargeTable } from "./payment_rows.ts";
import { shape } from "./shape.ts";
import { amount, bigint, type RowOf, text } from "./table.ts";

/** A charge, and the settlement whose payout it was taken for. */
export interface ListedCharge extends ChargeRow {
  readonly settlementId: string | null;
}

/** The charges that are wanted; an absent or undefined field does not restrict. */
export type ChargeFilter = Pick<ListFilter, "type" | "currency" | "network" | "from" | "until">;

/** One page of a merchant's charges, newest first. */
export async function listCharges(
  sql: Sql,
  merchantId: string,
  { type, currency, network, from, until }: ChargeFilter,
  request: PageRequest,
): Promise<readonly ListedCharge[]> {
  const query = new ListQuery(sql, "charge", merchantId, { type, currency, network, from, until });
  const rows = await sql`
    WITH ${query.lastBucket}, ${pageOf(query, request)}
    SELECT p.*, w.settlement_id FROM page p
    LEFT JOIN book.withdrawal w ON w.id = p.payment_id AND w.merchant_id = p.merchant_id
    ORDER BY p.seq DESC`;
  return rows.map((row) => ({
    ...chargeTable.decode(row),
    settlementId: row["settlement_id"] as string | null,
  }));
}

const chargeTotal = shape({
  type: text<ChargeRow["type"]>(),
  currency: text<Currency>(),
  network: text<Network>(),
  count: bigint(),
  amount: amount(),
});
/** Charges of one type in one pair. */
export type ChargeTotal = RowOf<typeof chargeTotal>;

/**
 * Totals of a merchant's charges per type and pair, from the sums that the journal stores; where the
 * filter names times, the rows of the two buckets they cut are added one by one.
 */
export async function sumCharges(
  sql: Sql,
  merchantId: string,
  filter: ChargeFilter,
): Promise<readonly ChargeTotal[]> {
  const query = new ListQuery(sql, "charge", merchantId, filter);
  return chargeTotal.all(
    await sql`
    WITH ${query.lastBucket}, ${query.counts}
    SELECT type, currency, network, sum(count) AS count, sum(effect) AS amount
    FROM counts GROUP BY type, currency, network HAVING sum(count) > 0
    ORDER BY type, currency, network`,
  );
}
