import type { Fragment } from "postgres";
import type { Sql } from "../database/connect.ts";
import type { Currency, Network } from "../pair.ts";
import type { ChargeRow } from "../rows.ts";
import type { Stretch } from "./split_days.ts";

/** Which charges are wanted; an absent or undefined field does not restrict. */
export interface ChargeFilter {
  readonly type?: ChargeRow["type"] | undefined;
  readonly currency?: Currency | undefined;
  readonly network?: Network | undefined;
  /** Not older than, Unix milliseconds. */
  readonly from?: number | undefined;
  /** Older than, Unix milliseconds. */
  readonly until?: number | undefined;
}

/** Conditions on `c`, a row of book.charge or of book.charge_day. */
export function chargeConditions(sql: Sql, { type, currency, network }: ChargeFilter): Fragment {
  return sql`
    ${type === undefined ? sql`` : sql`AND c.type = ${type}`}
    ${currency === undefined ? sql`` : sql`AND c.currency = ${currency}`}
    ${network === undefined ? sql`` : sql`AND c.network = ${network}`}`;
}

/**
 * Table expression `s (low, high)`: the numbers of the charges within each stretch of time. OFFSET 0
 * keeps the planner from searching them anew for every charge.
 */
export function stretchesOf(
  sql: Sql,
  merchantId: string,
  stretches: readonly Stretch[],
): Fragment {
  return sql`(
    SELECT book.first_seq_since('charge', ${merchantId}, t.from_time) AS low,
      book.first_seq_since('charge', ${merchantId}, t.until_time) - 1 AS high
    FROM unnest(${stretches.map(({ from }) => new Date(from).toISOString())}::text[]::timestamptz[],
                ${
    stretches.map(({ until }) => new Date(until).toISOString())
  }::text[]::timestamptz[])
      AS t(from_time, until_time)
    OFFSET 0) s`;
}

/**
 * Table expression `c`: the charges within each stretch of time, read by their numbers. LATERAL and
 * OFFSET 0 keep the planner from reading all charges where a page lies deep.
 */
export function chargesWithin(
  sql: Sql,
  merchantId: string,
  stretches: readonly Stretch[],
): Fragment {
  return sql`${stretchesOf(sql, merchantId, stretches)} CROSS JOIN LATERAL (
    SELECT x.* FROM book.charge x
    WHERE x.merchant_id = ${merchantId} AND x.seq BETWEEN s.low AND s.high OFFSET 0) c`;
}
