/**
 * Fee margins over a range of time: whole days (UTC) from the sums that are stored per day, and what is
 * left at the two ends of the range from the rows themselves.
 *
 * @module
 */

import type { Sql } from "./database/connect.ts";
import type { Currency, Network } from "./money/pair.ts";
import { shape } from "./shape.ts";
import { amount, bigint, type RowOf, text } from "./table.ts";

const marginTotal = shape({
  currency: text<Currency>(),
  network: text<Network>(),
  /** Number of fees that were taken. */
  feeEvents: bigint(),
  /** Sum of the amounts they were taken on. */
  volume: amount(),
  fees: amount(),
  earned: amount(),
  reversed: amount(),
});
/** An account's earnings from fees in one pair. */
export type MarginTotal = RowOf<typeof marginTotal>;

/** A range of time, Unix milliseconds; `until` is excluded, undefined is open. */
export interface TimeRange {
  readonly from?: number | undefined;
  readonly until?: number | undefined;
}

/**
 * Fee margins of a merchant account per pair: of its own fees (their shares that went to another
 * account are not its earnings), and of other merchants' fees that it benefits from. Costs a row per
 * day, and the rows of at most two parts of days.
 *
 * @param of `others`: other merchants' fees alone, as a reseller's account earns them
 */
export async function sumMargins(
  sql: Sql,
  merchantId: string,
  range: TimeRange,
  of: "all" | "others",
): Promise<readonly MarginTotal[]> {
  const { firstDay, endDay, ends } = splitDays(range);
  const days = sql`
    ${firstDay === null ? sql`` : sql`AND d.day >= ${firstDay}::date`}
    ${endDay === null ? sql`` : sql`AND d.day < ${endDay}::date`}`;
  const inDays = sql`d.currency, d.network, d.beneficiary, d.events, d.volume, d.fee, d.earned,
    d.reversed FROM book.margin_day d`;
  const atEnds =
    sql`m.currency, m.network, m.beneficiary, (m.fee > 0)::int::bigint, m.volume, m.fee,
    m.earned, m.reversed
    FROM unnest(${ends.map(([from]) => new Date(from).toISOString())}::text[]::timestamptz[],
                ${ends.map(([, until]) => new Date(until).toISOString())}::text[]::timestamptz[])
      AS t(begins, ends)
    JOIN book.margin m ON m.created_at >= t.begins AND m.created_at < t.ends`;
  const own = of === "others" ? sql`` : sql`
    UNION ALL SELECT ${inDays} WHERE d.merchant_id = ${merchantId} ${days}
    UNION ALL SELECT ${atEnds} WHERE m.merchant_id = ${merchantId}`;
  return marginTotal.all(
    await sql`
    SELECT currency, network, sum(events) AS fee_events, sum(volume) AS volume, sum(fee) AS fees,
      coalesce(sum(earned) FILTER (WHERE beneficiary = ${merchantId}), 0) AS earned,
      coalesce(sum(reversed) FILTER (WHERE beneficiary = ${merchantId}), 0) AS reversed
    FROM (
      SELECT ${inDays} WHERE d.beneficiary = ${merchantId} AND d.beneficiary <> d.merchant_id ${days}
      UNION ALL
      SELECT ${atEnds} WHERE m.beneficiary = ${merchantId} AND m.beneficiary <> m.merchant_id
      ${own}) part
    GROUP BY currency, network ORDER BY currency, network`,
  );
}

const DAY_MS = 86_400_000;

/** A range of time in whole days and ends. */
interface DaySplit {
  /** First whole day, `YYYY-MM-DD`; null: from the beginning. */
  readonly firstDay: string | null;
  /** The day after the last whole one; null: without end. */
  readonly endDay: string | null;
  /** Parts of days at the ends of the range, at most two. */
  readonly ends: readonly (readonly [from: number, until: number])[];
}

function splitDays({ from, until }: TimeRange): DaySplit {
  const first = from === undefined ? null : Math.ceil(from / DAY_MS) * DAY_MS;
  const end = until === undefined ? null : Math.floor(until / DAY_MS) * DAY_MS;
  if (from !== undefined && until !== undefined && (first ?? 0) > (end ?? 0)) {
    const nothing = dayOf(Math.max(from, 0));
    return { firstDay: nothing, endDay: nothing, ends: [[from, until]] };
  }
  const ends: [from: number, until: number][] = [];
  if (from !== undefined && first !== null && from < first) ends.push([from, first]);
  if (until !== undefined && end !== null && end < until) ends.push([end, until]);
  return {
    firstDay: first === null ? null : dayOf(first),
    endDay: end === null ? null : dayOf(end),
    ends,
  };
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
