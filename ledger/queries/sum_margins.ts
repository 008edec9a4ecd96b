import { type Amount, amountOf } from "../amount.ts";
import type { Sql } from "../database/connect.ts";
import type { Currency, Network } from "../pair.ts";
import { splitDays } from "./split_days.ts";

/** What an account earned from fees in one pair. */
export interface MarginTotal {
  readonly currency: Currency;
  readonly network: Network;
  /** Fees that were taken on a line. */
  readonly feeEvents: number;
  /** Sum of the amounts they were taken on. */
  readonly volume: Amount;
  readonly fees: Amount;
  readonly earned: Amount;
  readonly reversed: Amount;
}

/**
 * Fee margins of a merchant account per pair: of its own fees, and of other merchants' fees that it
 * benefits from. Shares that went to somebody else are not its earnings. Costs a row per day, and
 * the rows of at most two parts of days.
 *
 * @param from not before, Unix milliseconds
 * @param until before, Unix milliseconds
 */
export async function sumMargins(
  sql: Sql,
  merchantId: string,
  from: number | undefined,
  until: number | undefined,
): Promise<readonly MarginTotal[]> {
  const { firstDay, endDay, ends } = splitDays(from, until);
  const days = sql`
    ${firstDay === null ? sql`` : sql`AND d.day >= ${firstDay}::date`}
    ${endDay === null ? sql`` : sql`AND d.day < ${endDay}::date`}`;
  const sums = sql`d.currency, d.network, d.beneficiary, d.events, d.volume, d.fee, d.earned,
    d.reversed FROM book.margin_day d`;
  const rest = sql`m.currency, m.network, m.beneficiary, (m.fee > 0)::int::bigint, m.volume, m.fee,
    m.earned, m.reversed
    FROM unnest(${ends.map((end) => new Date(end.from).toISOString())}::text[]::timestamptz[],
                ${ends.map((end) => new Date(end.until).toISOString())}::text[]::timestamptz[])
      AS t(begins, ends)
    JOIN book.margin m ON m.created_at >= t.begins AND m.created_at < t.ends`;
  const rows = await sql<{
    currency: Currency;
    network: Network;
    events: string;
    volume: string;
    fees: string;
    earned: string;
    reversed: string;
  }[]>`
    SELECT currency, network, sum(events) AS events, trim_scale(sum(volume))::text AS volume,
      trim_scale(sum(fee))::text AS fees,
      trim_scale(coalesce(sum(earned) FILTER (WHERE beneficiary = ${merchantId}), 0))::text AS earned,
      trim_scale(coalesce(sum(reversed) FILTER (WHERE beneficiary = ${merchantId}), 0))::text
        AS reversed
    FROM (
      SELECT ${sums} WHERE d.merchant_id = ${merchantId} ${days}
      UNION ALL
      SELECT ${sums} WHERE d.beneficiary = ${merchantId} AND d.beneficiary <> d.merchant_id ${days}
      UNION ALL
      SELECT ${rest} WHERE m.merchant_id = ${merchantId}
      UNION ALL
      SELECT ${rest} WHERE m.beneficiary = ${merchantId} AND m.beneficiary <> m.merchant_id) part
    GROUP BY currency, network ORDER BY currency, network`;
  return rows.map((row) => ({
    currency: row.currency,
    network: row.network,
    feeEvents: Number(row.events),
    volume: amountOf(row.volume),
    fees: amountOf(row.fees),
    earned: amountOf(row.earned),
    reversed: amountOf(row.reversed),
  }));
}
