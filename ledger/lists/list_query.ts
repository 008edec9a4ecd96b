/**
 * A merchant's list under a filter, as SQL fragments. Counts and sums of a list are in buckets: per 250
 * rows, and per 256 of these where they have all their rows (64,000), each by pair, status and type. The
 * rows after the last full bucket are counted by the statement that reads.
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
  /** Exact match; only deposits and withdrawals have one. */
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

const WORDS = new Set(Object.values(INDEXED).flat());

/** Fields of a filter that rows and buckets have as columns. */
const NARROWING = ["status", "type", "currency", "network"] as const;

/** Fragments of the statements that read a merchant's list under a filter. */
export class ListQuery {
  readonly #list: ListName;
  readonly #filter: ListFilter;

  constructor(
    readonly sql: Sql,
    list: ListName,
    readonly merchantId: string,
    filter: ListFilter,
  ) {
    this.#list = list;
    this.#filter = filter;
  }

  /** True where the filter names a time. */
  get isDated(): boolean {
    return this.#filter.from !== undefined || this.#filter.until !== undefined;
  }

  /** True where the filter names a reference. */
  get isSearched(): boolean {
    return this.#filter.referenceId !== undefined;
  }

  /** True where the filter names a status, a type or a pair. */
  get isNarrowed(): boolean {
    return NARROWING.some((field) => this.#filter[field] !== undefined);
  }

  /** True where an index names the rows of the filter one by one. */
  get isIndexed(): boolean {
    const { status = "", type = "" } = this.#filter;
    return INDEXED[this.#list].includes(status) || INDEXED[this.#list].includes(type);
  }

  /** The table of the list's rows. */
  get table() {
    return this.sql(`book.${this.#list}`);
  }

  /**
   * Rows with the reference of the filter; for a FROM, as `r`. One index has the references of
   * withdrawals while they are taken, another one those of withdrawals that failed or were cancelled.
   */
  get searched(): Fragment {
    const { sql, table } = this;
    const { referenceId = "" } = this.#filter;
    const rows = sql`
      SELECT x.* FROM ${table} x
      WHERE x.merchant_id = ${this.merchantId} AND x.reference_id = ${referenceId}`;
    if (this.#list !== "withdrawal") return sql`(${rows}) r`;
    return sql`(
      ${rows} AND x.status NOT IN ('FAILED', 'CANCELLED')
      UNION ALL
      ${rows} AND x.status IN ('FAILED', 'CANCELLED')) r`;
  }

  /** CTE `bounds (low, high)`: the numbers between which the list lies. */
  get bounds(): Fragment {
    const { sql } = this;
    const { from, until } = this.#filter;
    const first = (time: number) =>
      sql`book.first_seq_since(${this.#list}, ${this.merchantId}, ${new Date(time)})`;
    const low = from === undefined ? sql`1::bigint` : first(from);
    const high = until === undefined
      ? sql`a.${sql(`${this.#list}_seq`)}`
      : sql`${first(until)} - 1`;
    return sql`bounds AS MATERIALIZED (
      SELECT ${low} AS low, ${high} AS high FROM book.account a WHERE a.merchant_id = ${this.merchantId})`;
  }

  /** Conditions on `r`, a row of the list. */
  get conditions(): Fragment {
    return this.sql`${this.#narrowing(true)}`;
  }

  /** Conditions on `r`, a row of a table of buckets. */
  get bucketConditions(): Fragment {
    const { sql } = this;
    return sql`r.merchant_id = ${this.merchantId} AND r.list = ${this.#list} ${
      this.#narrowing(false)
    }`;
  }

  /** @param asText known words become part of the statement's text: a partial index serves no parameter */
  #narrowing(asText: boolean): Fragment[] {
    const { sql } = this;
    return NARROWING.map((field) => {
      const word = this.#filter[field];
      if (word === undefined) return sql``;
      const value = asText && WORDS.has(word) ? sql.unsafe(`'${word}'`) : word;
      return sql`AND r.${sql(field)} = ${value}`;
    });
  }

  /** CTE `last_bucket`: the rows after the last full bucket, counted once in a statement. */
  get lastBucket(): Fragment {
    return this.sql`last_bucket AS MATERIALIZED (
      SELECT * FROM book.last_bucket(${this.#list}, ${this.merchantId}))`;
  }

  /** Every bucket of the list; for a FROM, as `r`. The statement has the CTE of {@linkcode lastBucket}. */
  get buckets(): Fragment {
    return this.sql`(
      SELECT b.* FROM book.list_bucket b
      WHERE b.merchant_id = ${this.merchantId} AND b.list = ${this.#list}
      UNION ALL
      SELECT * FROM last_bucket) r`;
  }

  /** Number of large buckets of the list that are summed; a scalar. */
  get summedBuckets(): Fragment {
    return this.sql`coalesce((SELECT s.large_buckets FROM book.list_summed s
      WHERE s.merchant_id = ${this.merchantId} AND s.list = ${this.#list}), 0)`;
  }

  /**
   * CTE `counts (low, high, currency, network, type, count, effect)`: counts and sums of the rows under
   * the filter, several per range of buckets from `low` to before `high`. Where the filter names times,
   * every range is one bucket, and the rows of those that the times cut are counted one by one (CTE
   * `bounds` included). The statement has the CTE of {@linkcode lastBucket}.
   */
  get counts(): Fragment {
    const { sql } = this;
    const where = this.bucketConditions;
    const sums = sql`r.currency, r.network, r.type, r.count, r.effect`;
    if (!this.isDated) {
      return sql`counts AS MATERIALIZED (
        SELECT r.large_bucket * 256 AS low, r.large_bucket * 256 + 256 AS high, ${sums}
        FROM book.list_large_bucket r WHERE ${where}
        UNION ALL
        SELECT r.bucket, r.bucket + 1, ${sums} FROM ${this.buckets}
        WHERE ${where} AND r.bucket >= ${this.summedBuckets} * 256)`;
    }
    const summed = { transaction: "r.effect", charge: "r.amount" }[this.#list as string];
    const type = sql.unsafe(summed === undefined ? "''" : "r.type");
    const effect = sql.unsafe(summed ?? "0");
    return sql`${this.bounds},
      cut AS MATERIALIZED (
        SELECT DISTINCT e.bucket FROM bounds b,
          LATERAL (VALUES ((b.low - 1) / 250), ((b.high - 1) / 250)) e(bucket) WHERE b.low <= b.high),
      counts AS MATERIALIZED (
        SELECT r.bucket AS low, r.bucket + 1 AS high, ${sums} FROM ${this.buckets} CROSS JOIN bounds b
        WHERE ${where} AND r.bucket > (b.low - 1) / 250 AND r.bucket < (b.high - 1) / 250
        UNION ALL
        SELECT c.bucket, c.bucket + 1, r.currency, r.network, ${type}, 1, ${effect}
        FROM bounds b CROSS JOIN cut c CROSS JOIN LATERAL (
          SELECT x.* FROM ${this.table} x
          WHERE x.merchant_id = ${this.merchantId} AND x.seq >= greatest(b.low, c.bucket * 250 + 1)
            AND x.seq <= least(b.high, (c.bucket + 1) * 250) OFFSET 0) r
        WHERE true ${this.conditions})`;
  }
}

/** Rows that a large bucket has when it is whole; see book.list_large_bucket. */
const LARGE_BUCKET_ROWS = 64_000;
/** Merchants summed at once. */
const AT_A_TIME = 100;

/**
 * Sums the whole large buckets of lists that are not summed yet. Every merchant is a transaction of its
 * own under the lock of its account.
 *
 * @returns how many merchants had some
 */
export async function sumLargeBuckets(sql: Sql): Promise<number> {
  const due = await sql<{ merchant_id: string }[]>`
    SELECT a.merchant_id FROM book.account a
    WHERE greatest(a.deposit_seq, a.withdrawal_seq, a.transaction_seq, a.settlement_seq, a.charge_seq)
        >= ${LARGE_BUCKET_ROWS}
      AND EXISTS (
        SELECT FROM (VALUES ('deposit', a.deposit_seq), ('withdrawal', a.withdrawal_seq),
          ('transaction', a.transaction_seq), ('settlement', a.settlement_seq),
          ('charge', a.charge_seq)) l(list, last)
        LEFT JOIN book.list_summed s ON s.merchant_id = a.merchant_id AND s.list = l.list
        WHERE l.last / ${LARGE_BUCKET_ROWS} > coalesce(s.large_buckets, 0))
    LIMIT ${AT_A_TIME}`;
  for (const { merchant_id } of due) await sql`SELECT book.sum_large_buckets(${merchant_id})`;
  return due.length;
}
