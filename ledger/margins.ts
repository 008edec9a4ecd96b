/**
 * How a range of time is put together from sums that are kept per day (UTC): whole days from the
 * sums, and what is left at its two ends from the rows themselves.
 *
 * @module
 */

import type { Sql } from "./database/connect.ts";
import { type Amount, amountOf } from "./money/amount.ts";
import type { Currency, Network } from "./money/pair.ts";

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

const DAY_MS = 86_400_000;

/** A stretch of time, Unix milliseconds; `until` is excluded. */
export interface Stretch {
  readonly from: number;
  readonly until: number;
}

/** A range of time in whole days and ends. */
export interface DaySplit {
  /** First whole day, `YYYY-MM-DD`; null: from the beginning. */
  readonly firstDay: string | null;
  /** The day after the last whole one; null: without end. */
  readonly endDay: string | null;
  /** Parts of days at the ends of the range, at most two. */
  readonly ends: readonly Stretch[];
}

/**
 * Splits a range.
 *
 * @param from not before, Unix milliseconds; undefined: from the beginning
 * @param until before, Unix milliseconds; undefined: without end
 */
function splitDays(from: number | undefined, until: number | undefined): DaySplit {
  const first = from === undefined ? null : Math.ceil(from / DAY_MS) * DAY_MS;
  const end = until === undefined ? null : Math.floor(until / DAY_MS) * DAY_MS;
  if (from !== undefined && until !== undefined && (first ?? 0) > (end ?? 0)) {
    const nothing = dayOf(Math.max(from, 0));
    return { firstDay: nothing, endDay: nothing, ends: [{ from, until }] };
  }
  const ends: Stretch[] = [];
  if (from !== undefined && first !== null && from < first) ends.push({ from, until: first });
  if (until !== undefined && end !== null && end < until) ends.push({ from: end, until });
  return {
    firstDay: first === null ? null : dayOf(first),
    endDay: end === null ? null : dayOf(end),
    ends,
  };
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

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
