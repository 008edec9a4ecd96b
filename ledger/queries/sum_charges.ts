import { type Amount, amountOf } from "../amount.ts";
import type { Sql } from "../database/connect.ts";
import type { Currency, Network } from "../pair.ts";
import type { ChargeRow } from "../rows.ts";
import { splitDays } from "./split_days.ts";
import { chargeConditions, type ChargeFilter, chargesWithin } from "./charge_filter.ts";

/** Charges of one type in one pair. */
export interface ChargeTotal {
  readonly type: ChargeRow["type"];
  readonly currency: Currency;
  readonly network: Network;
  readonly count: number;
  readonly amount: Amount;
}

/**
 * Totals of a merchant's charges per type and pair. Costs a row per day and type, and the rows of
 * at most two parts of days, whatever the number of charges.
 */
export async function sumCharges(
  sql: Sql,
  merchantId: string,
  filter: ChargeFilter,
): Promise<readonly ChargeTotal[]> {
  const { firstDay, endDay, ends } = splitDays(filter.from, filter.until);
  const rows = await sql<
    (Omit<ChargeTotal, "count" | "amount"> & { count: string; amount: string })[]
  >`
    SELECT type, currency, network, sum(n) AS count, trim_scale(sum(total))::text AS amount FROM (
      SELECT c.type, c.currency, c.network, c.count AS n, c.amount AS total
      FROM book.charge_day c
      WHERE c.merchant_id = ${merchantId}
        ${firstDay === null ? sql`` : sql`AND c.day >= ${firstDay}::date`}
        ${endDay === null ? sql`` : sql`AND c.day < ${endDay}::date`}
        ${chargeConditions(sql, filter)}
      UNION ALL
      SELECT c.type, c.currency, c.network, 1, c.amount
      FROM ${chargesWithin(sql, merchantId, ends)}
      WHERE true ${chargeConditions(sql, filter)}) part
    GROUP BY type, currency, network ORDER BY type, currency, network`;
  return rows.map((row) => ({
    type: row.type,
    currency: row.currency,
    network: row.network,
    count: Number(row.count),
    amount: amountOf(row.amount),
  }));
}
