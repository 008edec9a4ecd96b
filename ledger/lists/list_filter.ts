/**
 * The lists of a merchant, and the filters that a list is read under, as SQL fragments.
 *
 * @module
 */

import type { Fragment } from "postgres";
import type { Sql } from "../database/connect.ts";
import type { Currency, Network } from "../money/pair.ts";

/** Lists that are numbered by the merchant's own counters. */
export type ListName = "deposit" | "withdrawal" | "transaction" | "settlement" | "charge";

/** Which rows are wanted; an absent or undefined field does not restrict. */
export interface ListFilter {
  readonly status?: string | undefined;
  readonly currency?: Currency | undefined;
  readonly network?: Network | undefined;
  /** Not older than, Unix milliseconds. */
  readonly from?: number | undefined;
  /** Older than, Unix milliseconds. */
  readonly until?: number | undefined;
  /** Only transactions and charges have it. */
  readonly type?: string | undefined;
  /** Exact match. */
  readonly referenceId?: string | undefined;
}

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

/** True where an index names the rows of a filter one by one. */
export function isIndexed(list: ListName, { status, type }: ListFilter): boolean {
  const words = INDEXED[list];
  return (status !== undefined && words.includes(status)) ||
    (type !== undefined && words.includes(type));
}

/** True where a filter names a time. */
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

/** A known word as part of the statement's text: a partial index serves no parameter. */
function asText(sql: Sql, word: string): Fragment | string {
  return WORDS.includes(word) ? sql.unsafe(`'${word}'`) : word;
}
