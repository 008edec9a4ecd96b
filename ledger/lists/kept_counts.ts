/**
 * Counts and sums of a merchant's lists, as the journal keeps them: per 250 rows (a block), per 256
 * blocks where those have all their rows (a chunk), and per pair, status and type.
 *
 * @module
 */

import type { Fragment } from "postgres";
import type { Sql } from "../database/connect.ts";
import type { ListFilter, ListName } from "./list_page.ts";

/** Words with a partial index of their own in the migrations. */
const INDEXED: { readonly [list in ListName]: readonly string[] } = {
  deposit: ["PENDING", "FAILED", "CANCELLED"],
  withdrawal: ["FAILED", "CANCELLED", "PENDING_APPROVAL"],
  settlement: [
    "PENDING",
    "APPROVAL_REQUIRED",
    "APPROVED",
    "PROCESSING",
    "SUBMITTED_TO_LEDGER",
    "FAILED",
    "CANCELLED",
    "REJECTED",
  ],
  transaction: ["FAILED", "CANCELLED", "SETTLEMENT"],
  charge: ["ADDRESS_ACTIVATION", "DIRECT_DEPOSIT", "REVERSAL"],
};
const WORDS = [...new Set(Object.values(INDEXED).flat())];

/** Whether an index names the rows of a filter one by one. */
export function isIndexed(list: ListName, { status, type }: ListFilter): boolean {
  const words = INDEXED[list];
  return (status !== undefined && words.includes(status)) ||
    (type !== undefined && words.includes(type));
}

/** Whether a filter names a time. */
export function isDated({ from, until }: ListFilter): boolean {
  return from !== undefined || until !== undefined;
}

/** The table of a list's rows. */
export function tableOf(sql: Sql, list: ListName): Fragment {
  return {
    deposit: () => sql`book.deposit`,
    withdrawal: () => sql`book.withdrawal`,
    transaction: () => sql`book.transaction`,
    settlement: () => sql`book.settlement`,
    charge: () => sql`book.charge`,
  }[list]();
}

/** CTE `bounds (low, high)`: the numbers between which the list lies. */
export function bounds(
  sql: Sql,
  list: ListName,
  merchantId: string,
  filter: ListFilter,
): Fragment {
  const last = {
    deposit: () => sql`a.deposit_seq`,
    withdrawal: () => sql`a.withdrawal_seq`,
    transaction: () => sql`a.transaction_seq`,
    settlement: () => sql`a.settlement_seq`,
    charge: () => sql`a.charge_seq`,
  }[list]();
  const low = filter.from === undefined
    ? sql`1::bigint`
    : sql`book.first_seq_since(${list}, ${merchantId}, ${new Date(filter.from)})`;
  const high = filter.until === undefined
    ? last
    : sql`book.first_seq_since(${list}, ${merchantId}, ${new Date(filter.until)}) - 1`;
  return sql`bounds AS MATERIALIZED (
    SELECT ${low} AS low, ${high} AS high FROM book.account a WHERE a.merchant_id = ${merchantId})`;
}

/**
 * CTE `kept (low, high, currency, network, type, count, effect)`: counts and sums of the rows under a
 * filter, several per stretch of blocks from `low` to before `high`. Where the filter names times,
 * every stretch is one block, and what they cut is counted row by row (CTE `bounds` included).
 */
export function keptCounts(
  sql: Sql,
  list: ListName,
  merchantId: string,
  filter: ListFilter,
): Fragment {
  const where = sql`r.merchant_id = ${merchantId} AND r.list = ${list}
    ${keptConditions(sql, filter)}`;
  const sums = sql`r.currency, r.network, r.type, r.count, r.effect`;
  if (!isDated(filter)) {
    return sql`kept AS MATERIALIZED (
      SELECT r.chunk * 256 AS low, r.chunk * 256 + 256 AS high, ${sums} FROM book.list_chunk r
      WHERE ${where}
      UNION ALL
      SELECT r.block, r.block + 1, ${sums} FROM book.list_block r
      WHERE ${where} AND r.block >= ${summed(sql, list, merchantId)} * 256)`;
  }
  const type = list === "charge" || list === "transaction" ? sql`r.type` : sql`''`;
  const effect = list === "transaction"
    ? sql`r.effect`
    : list === "charge"
    ? sql`r.amount`
    : sql`0`;
  return sql`${bounds(sql, list, merchantId, filter)},
    cut AS MATERIALIZED (
      SELECT DISTINCT e.block FROM bounds b,
        LATERAL (VALUES ((b.low - 1) / 250), ((b.high - 1) / 250)) e(block) WHERE b.low <= b.high),
    kept AS MATERIALIZED (
      SELECT r.block AS low, r.block + 1 AS high, ${sums} FROM book.list_block r CROSS JOIN bounds b
      WHERE ${where} AND r.block > (b.low - 1) / 250 AND r.block < (b.high - 1) / 250
      UNION ALL
      SELECT c.block, c.block + 1, r.currency, r.network, ${type}, 1, ${effect}
      FROM bounds b CROSS JOIN cut c CROSS JOIN LATERAL (
        SELECT x.* FROM ${tableOf(sql, list)} x
        WHERE x.merchant_id = ${merchantId} AND x.seq >= greatest(b.low, c.block * 250 + 1)
          AND x.seq <= least(b.high, (c.block + 1) * 250) OFFSET 0) r
      WHERE true ${conditions(sql, filter)})`;
}

/** How many chunks of a list are summed; a scalar. */
export function summed(sql: Sql, list: ListName, merchantId: string): Fragment {
  return sql`coalesce((SELECT s.chunks FROM book.list_summed s
    WHERE s.merchant_id = ${merchantId} AND s.list = ${list}), 0)`;
}

/** Conditions on `r`, a row of a list. */
export function conditions(sql: Sql, filter: ListFilter): Fragment {
  const { status, type, currency, network, referenceId } = filter;
  return sql`
    ${status === undefined ? sql`` : sql`AND r.status = ${asText(sql, status)}`}
    ${type === undefined ? sql`` : sql`AND r.type = ${asText(sql, type)}`}
    ${currency === undefined ? sql`` : sql`AND r.currency = ${currency}`}
    ${network === undefined ? sql`` : sql`AND r.network = ${network}`}
    ${referenceId === undefined ? sql`` : sql`AND r.reference_id = ${referenceId}`}`;
}

/** Conditions on `r`, a row of book.list_block or book.list_chunk. */
export function keptConditions(
  sql: Sql,
  { status, type, currency, network }: ListFilter,
): Fragment {
  return sql`
    ${status === undefined ? sql`` : sql`AND r.status = ${status}`}
    ${type === undefined ? sql`` : sql`AND r.type = ${type}`}
    ${currency === undefined ? sql`` : sql`AND r.currency = ${currency}`}
    ${network === undefined ? sql`` : sql`AND r.network = ${network}`}`;
}

/** A known word as part of the statement's text: a partial index serves no parameter. */
function asText(sql: Sql, word: string): Fragment | string {
  return WORDS.includes(word) ? sql.unsafe(`'${word}'`) : word;
}
