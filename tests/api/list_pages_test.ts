import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { formatAmount } from "../../ledger/money/amount.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { listTransactions } from "../../ledger/transactions.ts";
import { type ListFilter, sumLargeBuckets } from "../../ledger/lists/list_query.ts";
import { addMerchant } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const ROWS = 66_000;
const PENDING_FROM = 65_500;
const START = Date.parse("2026-03-01T00:00:00Z");
const STEP_MS = 60_000;

interface Line {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly status: string;
  readonly network: string;
  readonly after: string;
}

/** A statement over a summed large bucket and some buckets, two pairs and rare failures, with its balances counted by hand. */
async function fill(sql: Sql, merchantId: string): Promise<readonly Line[]> {
  await sql`
    INSERT INTO book.transaction
      (merchant_id, seq, id, payment_id, type, status, currency, network, effect, fee, created_at)
    SELECT ${merchantId}, i, 'txn_' || i, 'wd_' || i,
      CASE WHEN i % 7 = 0 THEN 'DEPOSIT' WHEN i % 160 = 0 THEN 'SETTLEMENT' ELSE 'WITHDRAWAL' END, s, 'USDT',
      CASE WHEN i % 3 = 0 THEN 'TRX_SHASTA' ELSE 'TRX' END,
      CASE WHEN s = 'FAILED' THEN 0 WHEN i % 7 = 0 THEN 100 ELSE -0.5 END, 0,
      ${new Date(START)}::timestamptz + i * interval '1 minute'
    FROM generate_series(1, ${ROWS}::int) i,
      LATERAL (SELECT CASE WHEN i % 199 = 0 THEN 'FAILED' WHEN i > ${PENDING_FROM}::int THEN 'PENDING'
                           ELSE 'CONFIRMED' END AS s) x`;
  await sql`
    INSERT INTO book.list_bucket
    SELECT merchant_id, 'transaction', (seq - 1) / 250, currency, network, status, type,
      count(*), sum(effect)
    FROM book.transaction GROUP BY 1, 2, 3, 4, 5, 6, 7`;
  await sql`UPDATE book.account SET transaction_seq = ${ROWS}`;
  assertEquals(await sumLargeBuckets(sql), 1);
  assertEquals(await sumLargeBuckets(sql), 0);
  const halves: Record<string, number> = { TRX: 0, TRX_SHASTA: 0 };
  return Array.from({ length: ROWS }, (_, index) => {
    const seq = index + 1;
    const network = seq % 3 === 0 ? "TRX_SHASTA" : "TRX";
    const isFailed = seq % 199 === 0;
    halves[network] = (halves[network] ?? 0) + (isFailed ? 0 : seq % 7 === 0 ? 200 : -1);
    return {
      seq,
      network,
      at: START + seq * STEP_MS,
      type: seq % 7 === 0 ? "DEPOSIT" : seq % 160 === 0 ? "SETTLEMENT" : "WITHDRAWAL",
      status: isFailed ? "FAILED" : seq > PENDING_FROM ? "PENDING" : "CONFIRMED",
      after: String((halves[network] ?? 0) / 2),
    };
  }).reverse();
}

test("a page is the same whether counted by buckets or by hand, whatever the filter", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lines = await fill(sql, await addMerchant(sql));
  const [merchant] = await sql`SELECT merchant_id FROM book.merchant`;
  const time = fc.option(
    fc.integer({ min: -5, max: ROWS + 5 }).map((minutes) => START + minutes * STEP_MS),
    { nil: undefined },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        status: fc.constantFrom(
          undefined,
          undefined,
          "FAILED",
          "CONFIRMED",
          "PENDING",
          "CANCELLED",
        ),
        network: fc.constantFrom(undefined, "TRX" as const, "TRX_SHASTA" as const),
        currency: fc.constantFrom(undefined, "USDT" as const),
        type: fc.constantFrom(undefined, undefined, "DEPOSIT", "WITHDRAWAL", "SETTLEMENT"),
        from: time,
        until: time,
      }),
      fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 700 })),
      fc.constantFrom(1, 7, 20, 100),
      async (filter: ListFilter, page, limit) => {
        const matching = lines.filter((line) =>
          (filter.status === undefined || line.status === filter.status) &&
          (filter.network === undefined || line.network === filter.network) &&
          (filter.type === undefined || line.type === filter.type) &&
          (filter.from === undefined || line.at >= filter.from) &&
          (filter.until === undefined || line.at < filter.until)
        );
        const found = await listTransactions(sql, merchant?.merchant_id, filter, { page, limit });
        assertEquals(found.total, matching.length);
        assertEquals(
          found.rows.map((row) => ({ seq: row.seq, after: formatAmount(row.balanceAfter) })),
          matching.slice((page - 1) * limit, page * limit).map(({ seq, after }) => ({
            seq,
            after,
          })),
        );
      },
    ),
    { numRuns: 150 },
  );
});
