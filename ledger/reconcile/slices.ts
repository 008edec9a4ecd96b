/**
 * The parts in which a full comparison reads the books: each is compared in a snapshot of its own, so
 * that none lives for longer than a part takes, however many payments there are.
 *
 * @module
 */

import type { Fragment } from "postgres";
import type { AnySql } from "../database/connect.ts";

/**
 * Keys that the parts of a rule are ranges of; `rows` are those of merchants, of which one with many
 * has its lists cut as well.
 */
export type SlicedBy = "merchants" | "rows" | "withdrawals" | "deposits" | "sweeps";

/** A part: keys from `from` to before `before`; together the parts of a rule are all keys there may be. */
export interface Slice {
  readonly from: string;
  /** null: up to the last one. */
  readonly before: string | null;
  /** Numbers of the rows of one merchant, `from`; null: all of them. */
  readonly numbers: { readonly after: number; readonly upto: number | null } | null;
  /** Rows of one merchant that is not cut, as a multiple of a part's; other parts: 1. */
  readonly weight: number;
}

/** All keys. */
export const WHOLE: Slice = { from: "", before: null, numbers: null, weight: 1 };

/** Rows of a list that a bucket counts; see book.list_bucket. */
const BUCKET_ROWS = 250;

/** Names a part, or several that follow each other, by the keys (and numbers) from which and to which it goes. */
export function nameSlices(first: Slice, last: Slice): string {
  const number = first.numbers === null ? "" : ` number ${first.numbers.after + 1}`;
  const from = first.from === "" ? "the first" : `${first.from.trimEnd()}${number}`;
  if (last.numbers !== null) return `${from} to ${last.from} number ${last.numbers.upto ?? "last"}`;
  return last.before === null ? `${from} to the last` : `${from} to before ${last.before}`;
}

/** Condition on a column of the keys. */
export function within(sql: AnySql, column: string, { from, before }: Slice): Fragment {
  return before === null
    ? sql`${sql(column)} >= ${from}`
    : sql`${sql(column)} >= ${from} AND ${sql(column)} < ${before}`;
}

/** Condition on the rows of a list, by `merchant_id` and `seq`. */
export function rowsWithin(sql: AnySql, slice: Slice): Fragment {
  const { from, numbers } = slice;
  if (numbers === null) return within(sql, "merchant_id", slice);
  const { after, upto } = numbers;
  return sql`merchant_id = ${from} AND seq > ${after} ${
    upto === null ? sql`` : sql`AND seq <= ${upto}`
  }`;
}

/** Condition on the counts of the same rows, by `merchant_id` and `bucket`. */
export function bucketsWithin(sql: AnySql, slice: Slice): Fragment {
  const { from, numbers } = slice;
  if (numbers === null) return within(sql, "merchant_id", slice);
  const [low, high] = [numbers.after, numbers.upto].map((seq) => (seq ?? 0) / BUCKET_ROWS);
  return sql`merchant_id = ${from} AND bucket >= ${low ?? 0} ${
    numbers.upto === null ? sql`` : sql`AND bucket < ${high ?? 0}`
  }`;
}

/**
 * Cuts the keys of a rule.
 *
 * @param most rows of a part, about; a multiple of the rows of a bucket
 */
export async function cutBooks(sql: AnySql, by: SlicedBy, most: number): Promise<readonly Slice[]> {
  switch (by) {
    case "merchants":
      return await cutMerchants(sql, most, false);
    case "rows":
      return await cutMerchants(sql, most, true);
    case "withdrawals":
      return await cutIds(sql, sql`SELECT id FROM book.withdrawal`, most);
    case "deposits":
      return await cutIds(sql, sql`SELECT id FROM book.deposit`, most);
    case "sweeps":
      return await cutIds(
        sql,
        sql`SELECT outgoing_id AS id FROM book.sweep_item WHERE outgoing_id IS NOT NULL`,
        most,
      );
    default:
      return by satisfies never;
  }
}

async function cutMerchants(sql: AnySql, most: number, cutsLists: boolean): Promise<Slice[]> {
  const accounts = await sql<{ id: string; rows: string }[]>`
    SELECT merchant_id AS id, greatest(transaction_seq, charge_seq) AS rows
    FROM book.account ORDER BY merchant_id`;
  const slices: Slice[] = [];
  let from = "";
  let sum = 0;
  const weight = () => Math.max(1, Math.ceil(sum / most));
  for (const account of accounts) {
    const { id } = account;
    const rows = Number(account.rows);
    const isCut = cutsLists && rows > most;
    if (isCut || sum + rows > most) {
      if (from !== id) slices.push({ from, before: id, numbers: null, weight: weight() });
      from = id;
      sum = 0;
    }
    if (!isCut) {
      sum += rows;
      continue;
    }
    // no id begins with that of a merchant
    from = `${id} `;
    for (let after = 0; after < rows; after += most) {
      const upto = after + most < rows ? after + most : null;
      slices.push({ from: id, before: from, numbers: { after, upto }, weight: 1 });
    }
  }
  return [...slices, { from, before: null, numbers: null, weight: weight() }];
}

/** @param ids a query of them; may name one several times */
async function cutIds(sql: AnySql, ids: Fragment, most: number): Promise<Slice[]> {
  const slices: Slice[] = [];
  for (let from = "";;) {
    const [next] = await sql<{ id: string }[]>`
      SELECT id FROM (${ids}) i WHERE id > ${from} ORDER BY id OFFSET ${most} LIMIT 1`;
    if (next === undefined) return [...slices, { from, before: null, numbers: null, weight: 1 }];
    slices.push({ from, before: next.id, numbers: null, weight: 1 });
    from = next.id;
  }
}
