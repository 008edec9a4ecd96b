import { amountOf } from "../amount.ts";
import type { Sql } from "../database/connect.ts";
import type { Currency, Network } from "../pair.ts";
import type { MarginTotal } from "../queries/sum_margins.ts";

/**
 * What a reseller's account earned from the fees of other merchants, per pair.
 *
 * @param merchantId the reseller's account
 * @param from not before, Unix milliseconds
 * @param until before, Unix milliseconds
 */
export async function sumLineMargins(
  sql: Sql,
  merchantId: string,
  from: number | undefined,
  until: number | undefined,
): Promise<readonly MarginTotal[]> {
  const rows = await sql<{
    currency: Currency;
    network: Network;
    events: string;
    volume: string;
    fees: string;
    earned: string;
    reversed: string;
  }[]>`
    SELECT m.currency, m.network, count(*) FILTER (WHERE m.fee > 0) AS events,
      trim_scale(sum(m.volume))::text AS volume, trim_scale(sum(m.fee))::text AS fees,
      trim_scale(sum(m.earned))::text AS earned, trim_scale(sum(m.reversed))::text AS reversed
    FROM book.margin m
    WHERE m.beneficiary = ${merchantId} AND m.beneficiary <> m.merchant_id
      ${from === undefined ? sql`` : sql`AND m.created_at >= ${new Date(from)}`}
      ${until === undefined ? sql`` : sql`AND m.created_at < ${new Date(until)}`}
    GROUP BY m.currency, m.network ORDER BY m.currency, m.network`;
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
