import type { Sql } from "postgres";
import { type Amount, amountOf } from "../money/amount.ts";
import type { Network, OutgoingAsset } from "../money/pair.ts";
import type { OutgoingRow } from "../rows.ts";

/** What the chain took for one kind of our transactions, beside what merchants paid for it. */
export interface CostSum {
  readonly kind: OutgoingRow["kind"];
  readonly currency: OutgoingAsset;
  readonly transfers: number;
  /** Of them, those that were included and failed. */
  readonly failed: number;
  /** Network fees that merchants paid, in the currency. */
  readonly charged: Amount;
  /** In the chain's own coin. */
  readonly coin: Amount;
  /** The same in the currency (a stablecoin where the coin itself was moved), at the rates of the time. */
  readonly cost: Amount;
  /** Transfers that `cost` lacks, because no rate was known. */
  readonly unpriced: number;
}

/**
 * Sums of costs by kind and asset.
 *
 * @param days only those counted in so many last days (UTC, today included); null: all
 */
export async function sumCosts(
  sql: Sql,
  network: Network,
  days: number | null,
): Promise<readonly CostSum[]> {
  const rows = await sql<
    {
      kind: OutgoingRow["kind"];
      currency: OutgoingAsset;
      transfers: string;
      failed: string;
      charged: string;
      coin: string;
      cost: string;
      unpriced: string;
    }[]
  >`
    SELECT kind, currency, sum(transfers) AS transfers, sum(failed) AS failed,
      trim_scale(sum(charged))::text AS charged, trim_scale(sum(coin))::text AS coin,
      trim_scale(sum(cost))::text AS cost, sum(unpriced) AS unpriced
    FROM book.network_cost
    WHERE network = ${network}
      AND (${days}::int IS NULL OR day > (now() AT TIME ZONE 'UTC')::date - ${days}::int)
    GROUP BY kind, currency ORDER BY kind, currency`;
  return rows.map((row) => ({
    kind: row.kind,
    currency: row.currency,
    transfers: Number(row.transfers),
    failed: Number(row.failed),
    charged: amountOf(row.charged),
    coin: amountOf(row.coin),
    cost: amountOf(row.cost),
    unpriced: Number(row.unpriced),
  }));
}
