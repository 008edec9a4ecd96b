import { type Amount, amountOf } from "../amount.ts";
import type { Sql } from "../database/connect.ts";
import type { Currency, Network } from "../pair.ts";
import type { ChargeRow } from "../rows.ts";
import type { ChargeFilter } from "./list_charges.ts";
import { keptCounts } from "./kept_counts.ts";

/** Charges of one type in one pair. */
export interface ChargeTotal {
  readonly type: ChargeRow["type"];
  readonly currency: Currency;
  readonly network: Network;
  readonly count: number;
  readonly amount: Amount;
}

/**
 * Totals of a merchant's charges per type and pair, from the sums the journal keeps; where the
 * filter names times, the rows of the two blocks they cut are added one by one.
 */
export async function sumCharges(
  sql: Sql,
  merchantId: string,
  filter: ChargeFilter,
): Promise<readonly ChargeTotal[]> {
  const rows = await sql<
    (Omit<ChargeTotal, "count" | "amount"> & { count: string; amount: string })[]
  >`
    WITH ${keptCounts(sql, "charge", merchantId, filter)}
    SELECT type, currency, network, sum(count) AS count, trim_scale(sum(effect))::text AS amount
    FROM kept GROUP BY type, currency, network HAVING sum(count) > 0
    ORDER BY type, currency, network`;
  return rows.map((row) => ({
    type: row.type,
    currency: row.currency,
    network: row.network,
    count: Number(row.count),
    amount: amountOf(row.amount),
  }));
}
