import { assert, assertEquals } from "@std/assert";
import { Decimal } from "decimal.js";
import fc from "fast-check";
import type { Sql } from "../../ledger/database/connect.ts";
import { testApi } from "../support/api.ts";
import { booksFaults, SOMEWHERE } from "../support/books.ts";
import { endPayout, pay, vanish } from "./support/chain.ts";
import { issueAddress, openOffice, openShop, PAYOUT, type Shop } from "./support/shop.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { sumBuckets } from "../support/list_buckets.ts";

const test = testNeeding(DATABASE);

/** Enough for 20 buckets of the kept counts, and for an incomplete one. */
const ROWS = 20_321;

/** Fills all four lists of a merchant, as years of business would. */
async function fill(sql: Sql, merchantId: string): Promise<void> {
  const at = sql`'2026-01-01Z'::timestamptz + i * interval '10 seconds'`;
  const network = sql`CASE WHEN i % 5 = 0 THEN 'TRX_SHASTA' ELSE 'TRX' END`;
  await sql`
    INSERT INTO book.deposit (id, merchant_id, seq, transaction_seq, currency, network, amount,
      status, source, reference_id, commission, txid, log_index, created_at, updated_at, cleared_at)
    SELECT 'dep_' || i, ${merchantId}, i, i, 'USDT', ${network}, i, s, 'onchain', 'ref-' || i % 9,
      0, lpad(to_hex(i), 64, '0'), 0, ${at}, ${at}, CASE WHEN s = 'CONFIRMED' THEN ${at} END
    FROM generate_series(1, ${ROWS}::int) i, LATERAL (SELECT CASE WHEN i % 997 = 0 THEN 'FAILED'
      WHEN i > ${ROWS}::int - 40 THEN 'PENDING' ELSE 'CONFIRMED' END AS s) x`;
  await sql`
    INSERT INTO book.withdrawal (id, merchant_id, seq, transaction_seq, outgoing_id, currency,
      network, amount, base_fee, markup_rate, markup_amount, network_fee, destination, status, txid,
      created_at, processed_at)
    SELECT 'wd_' || i, ${merchantId}, i, i, 'out_' || i, 'USDT', ${network}, i, 1, 0, 0, 1,
      ${SOMEWHERE}, s, CASE WHEN s = 'CONFIRMED' THEN lpad(to_hex(i), 64, 'e') END, ${at},
      CASE WHEN s <> 'PENDING' THEN ${at} END
    FROM generate_series(1, ${ROWS}::int) i, LATERAL (SELECT CASE WHEN i % 991 = 0 THEN 'CANCELLED'
      WHEN i % 17 = 0 THEN 'FAILED' WHEN i > ${ROWS}::int - 70 THEN 'PENDING'
      ELSE 'CONFIRMED' END AS s) x`;
  await sql`
    INSERT INTO book.settlement (id, merchant_id, seq, withdrawal_id, currency, network, amount,
      total_fees, address, label, status, needed_approval, created_at, updated_at, history)
    SELECT 'stl_' || i, ${merchantId}, i, 'wd_s' || i, 'USDT', ${network}, i, 2, ${SOMEWHERE}, 'x',
      s, false, ${at}, ${at}, CASE s WHEN 'REJECTED'
        THEN '[{"status":"PENDING","at":"2026-01-01T00:00:00.000Z"},{"status":"APPROVAL_REQUIRED","at":"2026-01-01T00:00:00.000Z"},{"status":"REJECTED","at":"2026-01-01T00:00:00.000Z"}]'::jsonb
        ELSE '[{"status":"PENDING","at":"2026-01-01T00:00:00.000Z"},{"status":"PROCESSING","at":"2026-01-01T00:00:00.000Z"},{"status":"SUBMITTED_TO_LEDGER","at":"2026-01-01T00:00:00.000Z"},{"status":"COMPLETED","at":"2026-01-01T00:00:00.000Z"}]'
        END
    FROM generate_series(1, ${ROWS}::int) i,
      LATERAL (SELECT CASE WHEN i % 501 = 0 THEN 'REJECTED' ELSE 'COMPLETED' END AS s) x`;
  await sql`
    INSERT INTO book.transaction (merchant_id, seq, id, payment_id, type, status, currency, network,
      effect, fee, created_at)
    SELECT ${merchantId}, i, 'txn_' || i, 'dep_' || i,
      CASE WHEN i % 3 = 0 THEN 'WITHDRAWAL' ELSE 'DEPOSIT' END, s, 'USDT', ${network},
      CASE WHEN s = 'FAILED' THEN 0 WHEN i % 3 = 0 THEN -1.000001 ELSE 2.5 END, 0, ${at}
    FROM generate_series(1, ${ROWS}::int) i,
      LATERAL (SELECT CASE WHEN i % 499 = 0 THEN 'FAILED' ELSE 'CONFIRMED' END AS s) x`;
  await sql`
    UPDATE book.account SET deposit_seq = ${ROWS}, withdrawal_seq = ${ROWS},
      settlement_seq = ${ROWS}, transaction_seq = ${ROWS} WHERE merchant_id = ${merchantId}`;
  await sumBuckets(sql, merchantId);
  await sql`
    INSERT INTO book.balance (merchant_id, currency, network, available, updated_at)
    SELECT merchant_id, currency, network, sum(effect), now() FROM book.transaction
    WHERE merchant_id = ${merchantId} GROUP BY 1, 2, 3`;
  await sql`ANALYZE`;
}

interface Case {
  readonly list: "deposits" | "withdrawals" | "settlements" | "transactions";
  readonly limit: number;
  readonly query?: string;
  readonly status?: string;
  readonly network?: string;
}

const CASES: readonly Case[] = [
  { list: "deposits", limit: 10 },
  { list: "deposits", limit: 100 },
  { list: "deposits", limit: 7, status: "FAILED" },
  { list: "deposits", limit: 33, status: "PENDING" },
  { list: "deposits", limit: 50, network: "TRX_SHASTA" },
  { list: "withdrawals", limit: 10 },
  { list: "withdrawals", limit: 100, status: "CONFIRMED" },
  { list: "withdrawals", limit: 20, status: "FAILED" },
  { list: "withdrawals", limit: 5, status: "CANCELLED" },
  { list: "withdrawals", limit: 20, status: "PENDING_APPROVAL" },
  { list: "settlements", limit: 20 },
  { list: "settlements", limit: 9, status: "REJECTED" },
  { list: "transactions", limit: 20 },
  { list: "transactions", limit: 100, network: "TRX" },
  { list: "transactions", limit: 11, status: "FAILED" },
];

test("Lists: page 1, deep pages and the last of 20,000 rows equal a straightforward query", async (t) => {
  await using api = await testApi();
  const { id: merchantId, key } = await api.addMerchant();
  await api.sql`
    UPDATE book.merchant SET rate_limits = '{"transactions": 0}' WHERE merchant_id = ${merchantId}`;
  await fill(api.sql, merchantId);
  for (const { list, limit, status, network } of CASES) {
    await t.step(`${list} by ${limit} ${status ?? ""}${network ?? ""}`, async () => {
      const rows = await api.sql<{ id: string }[]>`
        SELECT id FROM ${api.sql(`book.${list.slice(0, -1)}`)} WHERE merchant_id = ${merchantId}
        ${status === undefined ? api.sql`` : api.sql`AND status = ${status}`}
        ${network === undefined ? api.sql`` : api.sql`AND network = ${network}`}
        ORDER BY seq DESC`;
      const ids = rows.map((row) => row.id);
      const pages = Math.ceil(ids.length / limit);
      for (const page of new Set([1, 2, Math.ceil(pages / 2), pages - 1, pages, pages + 1])) {
        if (page < 1) continue;
        const query = new URLSearchParams({ page: String(page), limit: String(limit) });
        if (status !== undefined) query.set("status", status);
        if (network !== undefined) query.set("network", network);
        const { body } = await api.call("GET", `/api/${list}?${query}`, { key });
        assertEquals(
          body[list].map((row: { id: string }) => row.id),
          ids.slice((page - 1) * limit, page * limit),
        );
        assertEquals(body.pagination, { total: ids.length, page, limit, pages });
      }
    });
  }
  await t.step(
    "running balances on any page are sums over all older rows of the pair",
    async () => {
      const rows = await api.sql<{ id: string; before: string; after: string }[]>`
      SELECT id, trim_scale(after - effect)::text AS before, trim_scale(after)::text AS after FROM (
        SELECT id, seq, effect, sum(effect) OVER (PARTITION BY currency, network ORDER BY seq) AS after
        FROM book.transaction WHERE merchant_id = ${merchantId}) t`;
      const expected = new Map(rows.map((row) => [row.id, [row.before, row.after]]));
      for (const page of [1, 77, 155, 204]) {
        for (
          const filter of ["", "&status=FAILED", "&type=WITHDRAWAL", "&network=TRX&currency=USDT"]
        ) {
          const { body } = await api.call(
            "GET",
            `/api/transactions?limit=100&page=${page}${filter}`,
            {
              key,
            },
          );
          for (const line of body.transactions) {
            assertEquals([line.balanceBefore, line.balanceAfter], expected.get(line.id), line.id);
          }
        }
      }
      const pair = "currency=USDT&network=TRX";
      const { body } = await api.call("GET", `/api/transactions?${pair}&limit=1`, { key });
      assertEquals(body.transactions[0].balanceAfter, body.balance.available);
    },
  );
});

/** A step of a merchant's business. */
type Step =
  | { readonly kind: "see" | "deposit"; readonly micro: number }
  | { readonly kind: "confirm" | "vanish" | "pay" | "refund"; readonly which: number }
  | { readonly kind: "withdraw"; readonly micro: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("see" as const, "deposit" as const, "deposit" as const),
    micro: fc.integer({ min: 1, max: 50_000_000 }),
  }),
  fc.record({
    kind: fc.constantFrom("confirm" as const, "vanish" as const, "pay" as const, "refund" as const),
    which: fc.nat(50),
  }),
  fc.record({
    kind: fc.constant("withdraw" as const),
    micro: fc.integer({ min: 1_000_000, max: 9_000_000 }),
  }),
);

/** Every line's balances follow from the older ones, and the newest is what is available. */
async function checkStatement(shop: Shop): Promise<void> {
  const { body } = await shop.get("/api/transactions?currency=USDT&network=TRX&limit=100");
  const [available] = await shop.balance();
  assertEquals(body.balance.available, available);
  let running = new Decimal(0);
  for (const line of body.transactions.toReversed()) {
    assertEquals(line.balanceBefore, running.toFixed(), line.id);
    running = running.plus(line.amount);
    assertEquals(line.balanceAfter, running.toFixed(), line.id);
    if (line.status === "FAILED" || line.status === "CANCELLED") assertEquals(line.amount, "0");
    if (line.type === "DEPOSIT" && line.status === "PENDING") assertEquals(line.amount, "0");
  }
  assertEquals(running.toFixed(), available);
}

test("Transactions: running balances stay exact through refunds, late confirmations and margins", async () => {
  await using api = await testApi();
  const office = await openOffice(api);
  const owner = await openShop(api);
  const { body: reseller } = await office.post("/api/resellers", {
    name: "Line",
    withdrawalAddress: SOMEWHERE,
    network: "TRX",
    merchantId: owner.id,
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 25 }),
      fc.constantFrom("merchant", "reseller", null),
      async (steps, beneficiary) => {
        const shop = await openShop(api, { rate: "0.0123" });
        if (beneficiary !== null) {
          const line = { resellerId: reseller.id, marginRate: "0.25", beneficiary };
          assertEquals(
            (await office.put(`/api/merchants/${shop.id}/reseller`, line)).status,
            200,
          );
        }
        const address = await issueAddress(shop);
        const seen: [string, string][] = [];
        const open: string[] = [];
        const take = <T>(from: T[], which: number): T | undefined =>
          from.splice(which % Math.max(from.length, 1), 1)[0];
        for (const action of steps) {
          if (action.kind === "withdraw") {
            const amount = new Decimal(action.micro).div(1e6).toFixed();
            const { status, body } = await shop.post("/api/withdrawals", { ...PAYOUT, amount });
            assert(status === 201 || status === 400, JSON.stringify(body));
            if (status === 201) open.push(body.withdrawalId);
          } else if ("micro" in action) {
            const amount = new Decimal(action.micro).div(1e6).toFixed();
            const phase = action.kind === "see" ? "seen" : "solid";
            const txid = await pay(api, shop.id, address, amount, { phase });
            if (phase === "seen") seen.push([txid, amount]);
          } else if (action.kind === "confirm" || action.kind === "vanish") {
            const found = take(seen, action.which);
            if (found === undefined) continue;
            const [txid, amount] = found;
            if (action.kind === "vanish") await vanish(api, shop.id, txid);
            else await pay(api, shop.id, address, amount, { txid });
          } else {
            const id = take(open, action.which);
            if (id !== undefined) {
              await endPayout(api, id, action.kind === "pay" ? "paid" : "failed");
            }
          }
        }
        await checkStatement(shop);
      },
    ),
    { numRuns: 12 },
  );
  await checkStatement(owner);
  assertEquals(await booksFaults(api.sql), []);
});
