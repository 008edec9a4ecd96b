/**
 * Lists of a merchant with a million rows in each, against those of a merchant with 10,000 and
 * against the query that everybody writes first: one connection, one request at a time.
 *
 * @module
 */

import { connect, type Sql } from "../../ledger/database/connect.ts";
import type { BenchCluster } from "./bench_cluster.ts";
import { fillLists } from "./list_rows.ts";
import { startServer } from "./server_process.ts";
import { median } from "./statistics.ts";

/** One page, at both sizes. */
export interface ListMeasurement {
  /** List, filter, rows per page. */
  readonly name: string;
  readonly page: number;
  /** Milliseconds per request: median of the small list; median, fastest and slowest of the large. */
  readonly small: number;
  readonly large: number;
  readonly fastest: number;
  readonly slowest: number;
  /**
   * Factor by which the large list takes longer, by the fastest request of each, which others on the
   * machine disturb least; null where the small list has fewer rows to show.
   */
  readonly ratio: number | null;
  /** `count(*)`, and ORDER BY with OFFSET, in the database alone. */
  readonly naive: number;
}

/** Rows of the two merchants in every list. */
export const SMALL = 10_000;
export const LARGE = 1_000_000;
const REQUESTS = 15;
const NAIVE_REQUESTS = 1;
const REQUEST_MS = 20_000;
/** The small list is asked for its own last pages. */
const DEEP_PAGE = 5_000;

interface List {
  readonly path: string;
  readonly table: string;
  readonly order: string;
  /** Filters that have rows at {@linkcode DEEP_PAGE} are asked for it as well. */
  readonly filters: readonly string[];
}

const LISTS: readonly List[] = [
  {
    path: "/api/deposits",
    table: "book.deposit",
    order: "created_at",
    filters: ["", "status=CONFIRMED", "status=PENDING", "status=FAILED", "status=CANCELLED"],
  },
  {
    path: "/api/withdrawals",
    table: "book.withdrawal",
    order: "created_at",
    filters: [
      "",
      "status=CONFIRMED",
      "status=PENDING",
      "status=FAILED",
      "status=CANCELLED",
      "status=PENDING_APPROVAL",
    ],
  },
  {
    path: "/api/settlements",
    table: "book.settlement",
    order: "created_at",
    filters: ["", "status=COMPLETED", "status=FAILED", "status=REJECTED"],
  },
  {
    path: "/api/transactions",
    table: "book.transaction",
    order: "created_at",
    filters: [
      "",
      "currency=USDT&network=TRX",
      "status=CONFIRMED",
      "status=FAILED",
      "type=DEPOSIT",
      "type=WITHDRAWAL",
      "type=SETTLEMENT",
    ],
  },
  {
    path: "/api/merchants/{merchantId}/charges",
    table: "book.charge",
    order: "created_at",
    filters: ["", "type=NETWORK_FEE", "type=REVERSAL", "type=ADDRESS_ACTIVATION"],
  },
  {
    path: "/api/webhook-deliveries",
    table: "book.outbox",
    order: "created_at",
    filters: ["", "status=DELIVERED", "status=FAILED"],
  },
  {
    path: "/api/deposit-address",
    table: "book.deposit_address",
    order: "created_at",
    filters: [""],
  },
  { path: "/api/deposit-url", table: "hub.session", order: "created_at", filters: [""] },
];

interface Merchant {
  readonly id: string;
  readonly key: string;
}

/** Measures every list. */
export async function measureLists(
  cluster: BenchCluster,
  note: (text: string) => void,
): Promise<readonly ListMeasurement[]> {
  const { url, sql } = await cluster.database("lists");
  const [small, large] = [0, 1].map((i): Merchant => ({
    id: cluster.seed.spreadMerchants[i] ?? "",
    key: cluster.seed.spreadKeys[i] ?? "",
  }));
  if (small === undefined || large === undefined) {
    throw new Error("Cannot measure as nobody is there");
  }
  note(`inserting ${LARGE} rows per list`);
  const loader = connect(url, { max: 2, statementTimeoutMs: 0 });
  await fillLists(loader, new Map([[small.id, SMALL], [large.id, LARGE]]));
  await loader.end({ timeout: 5 });
  await using server = await startServer({ side: "journal", pool: 0, databaseUrl: url });
  const measurements: ListMeasurement[] = [];
  for (const list of LISTS) {
    for (const filter of list.filters) {
      for (const limit of [20, 100]) {
        for (const page of [1, DEEP_PAGE]) {
          const found = await measurePage(server.url, sql, list, filter, limit, page, small, large);
          if (found !== null) measurements.push(found);
        }
      }
    }
  }
  return measurements;
}

async function measurePage(
  base: string,
  sql: Sql,
  list: List,
  filter: string,
  limit: number,
  page: number,
  small: Merchant,
  large: Merchant,
): Promise<ListMeasurement | null> {
  const ask = async (merchant: Merchant, wanted: number) => {
    const path = list.path.replace("{merchantId}", merchant.id);
    const url = `${base}${path}?${filter}${filter === "" ? "" : "&"}page=${wanted}&limit=${limit}`;
    const times: number[] = [];
    let rows = 0;
    // the first requests make connections and plans
    for (let i = -5; i < REQUESTS; i++) {
      const began = performance.now();
      const response = await fetch(url, {
        headers: { authorization: merchant.key },
        signal: AbortSignal.timeout(REQUEST_MS),
      });
      const text = await response.text();
      if (i >= 0) times.push(performance.now() - began);
      if (response.status !== 200) throw new Error(`Cannot measure as it was refused: ${text}`);
      const lists: readonly unknown[][] = Object.values(JSON.parse(text)).filter(Array.isArray);
      rows = lists[0]?.length ?? 0;
    }
    return { times, rows };
  };
  const wide = await ask(large, page);
  if (page > 1 && wide.rows === 0) return null;
  const narrow = await ask(small, page === 1 ? 1 : Math.max(Math.floor(SMALL / limit / 2), 1));
  return {
    name: `${list.path.replace("/merchants/{merchantId}", "")} ${filter} by ${limit}`,
    page,
    small: median(narrow.times),
    large: median(wide.times),
    fastest: Math.min(...wide.times),
    ratio: narrow.rows < wide.rows ? null : Math.min(...wide.times) / Math.min(...narrow.times),
    slowest: Math.max(...wide.times),
    naive: await measureNaive(sql, list, filter, limit, page, large.id),
  };
}

async function measureNaive(
  sql: Sql,
  { table, order }: List,
  filter: string,
  limit: number,
  page: number,
  merchantId: string,
): Promise<number> {
  const conditions = [...new URLSearchParams(filter)].map(([name, value]) =>
    sql`AND ${sql(name)} = ${value}`
  );
  const where = sql`FROM ${sql(table)} WHERE merchant_id = ${merchantId} ${
    conditions.length === 0 ? sql`` : conditions
  }`;
  const times: number[] = [];
  for (let i = 0; i < NAIVE_REQUESTS; i++) {
    const began = performance.now();
    await sql`SELECT count(*) ${where}`;
    await sql`SELECT * ${where} ORDER BY ${sql(order)} DESC OFFSET ${
      (page - 1) * limit
    } LIMIT ${limit}`;
    times.push(performance.now() - began);
  }
  return median(times);
}
