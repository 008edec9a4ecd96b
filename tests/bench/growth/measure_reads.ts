/**
 * Pages of the hot merchant's lists and its balance, over HTTP on one connection, beside the query that
 * people write first.
 *
 * @module
 */

import type { Sql } from "../../../ledger/database/connect.ts";
import { median } from "../statistics.ts";
import { FAILED_EVERY } from "./fill_rows.ts";

/** One request, measured several times. */
export interface BookRead {
  readonly name: string;
  readonly round: number;
  /** Milliseconds: median and slowest. */
  readonly ms: number;
  readonly slowest: number;
  /** The query that people write first, in the database alone, milliseconds; null: not measured again. */
  readonly naive: number | null;
}

/** One request, and the statements that people write for it. */
interface Read {
  readonly name: string;
  readonly path: string;
  readonly naive: ((sql: Sql) => Promise<unknown>) | null;
}

const REQUESTS = 15;
const WARM_UPS = 5;
const LIMIT = 20;
const REQUEST_MS = 20_000;

/** Measures every read of a merchant. */
export async function measureReads(
  base: string,
  sql: Sql,
  merchant: { readonly key: string; readonly merchantId: string },
  round: number,
): Promise<readonly BookRead[]> {
  const found: BookRead[] = [];
  for (const read of await readsOf(sql, merchant.merchantId)) {
    const times: number[] = [];
    for (let i = -WARM_UPS; i < REQUESTS; i++) {
      const began = performance.now();
      const response = await fetch(`${base}${read.path}`, {
        headers: { authorization: merchant.key },
        signal: AbortSignal.timeout(REQUEST_MS),
      });
      const text = await response.text();
      if (response.status !== 200) throw new Error(`Cannot measure as it was refused: ${text}`);
      if (i >= 0) times.push(performance.now() - began);
    }
    found.push({
      name: read.name,
      round,
      ms: median(times),
      slowest: Math.max(...times),
      // it takes seconds where there are many rows, and does not change
      naive: round === 1 && read.naive !== null ? await timed(() => read.naive?.(sql)) : null,
    });
  }
  return found;
}

async function timed(run: () => Promise<unknown> | undefined): Promise<number> {
  const began = performance.now();
  await run();
  return performance.now() - began;
}

async function readsOf(sql: Sql, merchantId: string): Promise<readonly Read[]> {
  const [row] = await sql<{ rows: number }[]>`
    SELECT withdrawal_seq::int AS rows FROM book.account WHERE merchant_id = ${merchantId}`;
  const rows = row?.rows ?? 0;
  const page = (list: string, table: string, filter: string, which: string, rows: number): Read => {
    const pages = Math.max(Math.floor(rows / LIMIT), 1);
    const number = which === "first" ? 1 : which === "middle" ? Math.ceil(pages / 2) : pages;
    const where = filter === "" ? sql`` : sql`AND status = ${filter}`;
    return {
      name: `${list}${filter === "" ? "" : `, ${filter}`}: ${which} page`,
      path: `/api/${list}?page=${number}&limit=${LIMIT}${filter === "" ? "" : `&status=${filter}`}`,
      naive: which !== "last" ? null : async (sql) => {
        await sql`SELECT count(*) FROM ${
          sql(`book.${table}`)
        } WHERE merchant_id = ${merchantId} ${where}`;
        await sql`SELECT * FROM ${sql(`book.${table}`)} WHERE merchant_id = ${merchantId} ${where}
          ORDER BY created_at DESC OFFSET ${(number - 1) * LIMIT} LIMIT ${LIMIT}`;
      },
    };
  };
  return [
    ...["first", "middle", "last"].flatMap((which) => [
      page("withdrawals", "withdrawal", "", which, rows),
      page("withdrawals", "withdrawal", "FAILED", which, rows / FAILED_EVERY),
      page("withdrawals", "withdrawal", "CONFIRMED", which, rows * (1 - 2 / FAILED_EVERY)),
      page("transactions", "transaction", "", which, rows),
    ]),
    {
      name: "balance",
      path: "/api/balance",
      naive: (sql) =>
        sql`SELECT currency, network, sum(effect) FROM book.transaction
          WHERE merchant_id = ${merchantId} GROUP BY 1, 2`,
    },
  ];
}
