import { type Amount, amountOf } from "../amount.ts";
import type { Sql } from "../database/connect.ts";
import type { Currency, Network } from "../pair.ts";

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
 * benefits from. Shares that went to somebody else are not its earnings.
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
  const within = sql`
    ${from === undefined ? sql`` : sql`AND m.created_at >= ${new Date(from)}`}
    ${until === undefined ? sql`` : sql`AND m.created_at < ${new Date(until)}`}`;
  const rows = await sql<{
    currency: Currency;
    network: Network;
    events: string;
    volume: string;
    fees: string;
    earned: string;
    reversed: string;
  }[]>`
    SELECT currency, network, count(*) FILTER (WHERE fee > 0) AS events,
      trim_scale(sum(volume))::text AS volume, trim_scale(sum(fee))::text AS fees,
      trim_scale(coalesce(sum(earned) FILTER (WHERE beneficiary = ${merchantId}), 0))::text AS earned,
      trim_scale(coalesce(sum(reversed) FILTER (WHERE beneficiary = ${merchantId}), 0))::text
        AS reversed
    FROM (
      SELECT m.* FROM book.margin m WHERE m.merchant_id = ${merchantId} ${within}
      UNION ALL
      SELECT m.* FROM book.margin m
      WHERE m.beneficiary = ${merchantId} AND m.beneficiary <> m.merchant_id ${within}) m
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
