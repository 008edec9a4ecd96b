import type { Sql } from "../database/connect.ts";
import { type ChargeRow, chargeTable } from "../rows.ts";
import { splitDays, type Stretch, stretchOf } from "./split_days.ts";
import {
  chargeConditions,
  type ChargeFilter,
  chargesWithin,
  stretchesOf,
} from "./charge_filter.ts";
import type { PageRequest } from "./list_page.ts";

/** A charge, and the settlement whose payout it was taken for. */
export interface ListedCharge extends ChargeRow {
  readonly settlementId: string | null;
}

/** The whole of time, as far as it concerns charges. */
const ALL_TIME: Stretch = { from: 0, until: Date.UTC(9999, 0) };

/**
 * One page of a merchant's charges, newest first. Without other filters than dates the number of a
 * charge is its place; otherwise counts per day say in which days the page lies, so that only the
 * charges of those are looked at.
 */
export async function listCharges(
  sql: Sql,
  merchantId: string,
  filter: ChargeFilter,
  request: PageRequest,
): Promise<readonly ListedCharge[]> {
  const { type, currency, network, from, until } = filter;
  const offset = (request.page - 1) * request.limit;
  if (type === undefined && currency === undefined && network === undefined) {
    const range = { from: from ?? ALL_TIME.from, until: until ?? ALL_TIME.until };
    return await read(sql, merchantId, filter, [range], offset, request.limit);
  }
  const counted = await countStretches(sql, merchantId, filter);
  let before = 0;
  let skipped = 0;
  const wanted: Stretch[] = [];
  for (const { stretch, count } of counted) {
    if (before + count <= offset) skipped += count;
    else if (before < offset + request.limit) wanted.push(stretch);
    before += count;
  }
  if (wanted.length === 0) return [];
  return await read(sql, merchantId, filter, wanted, offset - skipped, request.limit);
}

interface Counted {
  readonly stretch: Stretch;
  readonly count: number;
}

/** Matching charges per day and per end of the range, newest first; those without any left out. */
async function countStretches(
  sql: Sql,
  merchantId: string,
  filter: ChargeFilter,
): Promise<readonly Counted[]> {
  const { firstDay, endDay, ends } = splitDays(filter.from, filter.until);
  const days = await sql<{ day: string; count: string }[]>`
    SELECT c.day::text AS day, sum(c.count) AS count FROM book.charge_day c
    WHERE c.merchant_id = ${merchantId}
      ${firstDay === null ? sql`` : sql`AND c.day >= ${firstDay}::date`}
      ${endDay === null ? sql`` : sql`AND c.day < ${endDay}::date`}
      ${chargeConditions(sql, filter)}
    GROUP BY c.day`;
  const parts = await Promise.all(ends.map(async (stretch): Promise<Counted> => {
    const [row] = await sql<{ count: string }[]>`
      SELECT count(*) AS count FROM ${chargesWithin(sql, merchantId, [stretch])}
      WHERE true ${chargeConditions(sql, filter)}`;
    return { stretch, count: Number(row?.count ?? 0) };
  }));
  return [
    ...days.map(({ day, count }) => ({ stretch: stretchOf(day), count: Number(count) })),
    ...parts,
  ].filter(({ count }) => count > 0).sort((a, b) => b.stretch.from - a.stretch.from);
}

async function read(
  sql: Sql,
  merchantId: string,
  filter: ChargeFilter,
  stretches: readonly Stretch[],
  offset: number,
  limit: number,
): Promise<readonly ListedCharge[]> {
  const { type, currency, network } = filter;
  const isNumbered = type === undefined && currency === undefined && network === undefined;
  // where nothing is left out the rows passed over need not be read: their numbers tell how many
  const part = isNumbered
    ? sql`
      SELECT c.* FROM ${stretchesOf(sql, merchantId, stretches)} CROSS JOIN LATERAL (
        SELECT x.* FROM book.charge x
        WHERE x.merchant_id = ${merchantId} AND x.seq BETWEEN s.low AND s.high - ${offset}::bigint
        ORDER BY x.seq DESC LIMIT ${limit}) c`
    : sql`
      SELECT c.* FROM ${chargesWithin(sql, merchantId, stretches)}
      WHERE true ${chargeConditions(sql, filter)}
      ORDER BY c.seq DESC OFFSET ${offset} LIMIT ${limit}`;
  const rows = await sql`
    SELECT p.*, w.settlement_id FROM (${part}) p
    LEFT JOIN book.withdrawal w ON w.id = p.payment_id AND w.merchant_id = p.merchant_id
    ORDER BY p.seq DESC`;
  return rows.map((row) => ({
    ...chargeTable.decode(row),
    settlementId: row["settlement_id"] as string | null,
  }));
}
