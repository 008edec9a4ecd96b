import { assert, assertEquals, assertMatch } from "@std/assert";
import fc from "fast-check";
import type { Sql } from "../../ledger/database/connect.ts";
import { type ListFilter, sumLargeBuckets } from "../../ledger/lists/list_query.ts";
import { formatAmount } from "../../ledger/money/amount.ts";
import { listTransactions } from "../../ledger/transactions.ts";
import { type TestApi, testApi, testsOfOneApi } from "../support/api.ts";
import {
  addMerchant,
  addTransfer,
  fund,
  refundCommand,
  reserveCommand,
  SOMEWHERE,
} from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { sumBuckets } from "../support/list_buckets.ts";

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("lists");

const PAYOUT = { amount: "1", currency: "USDT", network: "TRX", destination: SOMEWHERE };

shared("balances: one pair, the list, filters, and nothing of a disabled pair", async (api) => {
  const { key } = await api.addMerchant("12.345678");
  const get = async (query: string) =>
    (await api.call("GET", `/api/balance${query}`, { key })).body;
  const one = await get("?currency=USDT&network=TRX");
  assertMatch(one.lastUpdatedAt, /Z$/);
  assertEquals({ ...one, lastUpdatedAt: null }, {
    currency: "USDT",
    network: "TRX",
    available: "12.345678",
    pending: "0",
    lastUpdatedAt: null,
  });
  const nothing = { available: "0", pending: "0", lastUpdatedAt: null };
  assertEquals(await get("?currency=USDC&network=ETH"), {
    currency: "USDC",
    network: "ETH",
    ...nothing,
  });
  const { balances } = await get("");
  assertEquals(balances.map((row: { network: string }) => row.network).sort(), [
    "TRX",
    "TRX_SHASTA",
  ]);
  const trx = balances.find((row: { network: string }) => row.network === "TRX");
  assertEquals({ ...trx, lastUpdatedAt: null }, {
    currency: "USDT",
    network: "TRX",
    available: "12.345678",
    pending: "0",
    withdrawalEnabled: true,
    networkFee: "1",
    baseFee: "1",
    markupRate: "0",
    minWithdrawal: "1",
    maxWithdrawable: "11.345678",
    largestWithdrawal: "10.345678",
    lastUpdatedAt: null,
  });
  assertEquals((await get("?network=TRX")).balances.length, 1);
  assertEquals((await get("?currency=USDC")).balances, []);
  await api.sql`UPDATE book.pair SET withdrawals_enabled = false WHERE network = 'TRX'`;
  const [closed] = (await get("?network=TRX")).balances;
  assertEquals([closed.withdrawalEnabled, closed.networkFee, closed.maxWithdrawable], [
    false,
    null,
    "0",
  ]);
  for (const query of ["?currency=usdt", "?network=BTC", "?network="]) {
    assertEquals((await api.call("GET", `/api/balance${query}`, { key })).status, 400);
  }
});

/** A merchant with 5 deposits and 25 withdrawals, 5 of them released. */
async function busyMerchant(api: TestApi) {
  const { id, key } = await api.addMerchant("1000");
  for (let i = 0; i < 4; i++) await fund(api.sql, api.journal, id, "10");
  for (let i = 0; i < 25; i++) {
    const command = reserveCommand({ referenceId: `r${i}` });
    assertEquals((await api.journal.ask(id, command, 60_000)).kind, "done");
    if (i % 5 !== 0) continue;
    const failed = refundCommand(command.withdrawalId, { reason: "Payout initiation failed" });
    const released = await api.journal.ask(id, failed, 60_000);
    assertEquals(released.kind, "done");
  }
  return { id, key };
}

interface Row {
  readonly id: string;
  readonly status: string;
  readonly referenceId: string | null;
}

async function readAll(api: TestApi, key: string, path: string, name: string, limit: number) {
  const rows: Row[] = [];
  let total = 0;
  for (let page = 1; page < 100; page++) {
    const separator = path.includes("?") ? "&" : "?";
    const { status, body } = await api.call(
      "GET",
      `${path}${separator}page=${page}&limit=${limit}`,
      { key },
    );
    assertEquals(status, 200);
    total = body.pagination.total;
    assertEquals(body.pagination, { total, page, limit, pages: Math.ceil(total / limit) });
    if (body[name].length === 0) break;
    rows.push(...body[name]);
  }
  assertEquals(rows.length, total);
  assertEquals(new Set(rows.map(({ id }) => id)).size, total);
  return rows;
}

test("a withdrawal is found by its reference, and so are the ones that ended before it", async () => {
  await using api = await testApi();
  const { id, key } = await busyMerchant(api);
  const find = async (query: string, by = key) => {
    const { body } = await api.call("GET", `/api/withdrawals?${query}`, { key: by });
    return [
      body.pagination.total,
      body.withdrawals.map((row: Row) => [row.referenceId, row.status]),
    ];
  };
  assertEquals(await find("referenceId=r7"), [1, [["r7", "PENDING"]]]);
  assertEquals(await find("referenceId=r5"), [1, [["r5", "FAILED"]]]);
  assertEquals(await find("referenceId=R7"), [0, []]);
  const again = reserveCommand({ referenceId: "r5" });
  assertEquals((await api.journal.ask(id, again, 60_000)).kind, "done");
  assertEquals(await find("referenceId=r5"), [2, [["r5", "PENDING"], ["r5", "FAILED"]]]);
  assertEquals(await find("referenceId=r5&limit=1&page=2"), [2, [["r5", "FAILED"]]]);
  assertEquals(await find("referenceId=r5&status=PENDING"), [1, [["r5", "PENDING"]]]);
  assertEquals(await find("referenceId=r5&status=FAILED"), [1, [["r5", "FAILED"]]]);
  assertEquals(await find("referenceId=r5&status=CONFIRMED"), [0, []]);
  const other = await api.addMerchant();
  assertEquals(await find("referenceId=r5", other.key), [0, []]);
  const empty = await api.call("GET", "/api/withdrawals?referenceId=", { key });
  assertEquals(empty.status, 400);
});

test("pages of a list, with and without a status, add up to the list, newest first", async () => {
  await using api = await testApi();
  const { key } = await busyMerchant(api);
  const all = await readAll(api, key, "/api/withdrawals", "withdrawals", 7);
  assertEquals(
    all.map(({ referenceId }) => referenceId),
    Array.from({ length: 25 }, (_, i) => `r${24 - i}`),
  );
  for (const status of ["PENDING", "FAILED", "CONFIRMED"]) {
    const some = await readAll(api, key, `/api/withdrawals?status=${status}`, "withdrawals", 3);
    assertEquals(some, all.filter((row) => row.status === status));
  }
  assertEquals((await readAll(api, key, "/api/deposits", "deposits", 2)).length, 5);
  const none = await api.call("GET", "/api/withdrawals?status=PENDING_APPROVAL", { key });
  assertEquals(none.body, {
    withdrawals: [],
    pagination: { total: 0, page: 1, limit: 10, pages: 0 },
  });
  const other = await api.addMerchant();
  const empty = await api.call("GET", "/api/withdrawals", { key: other.key });
  assertEquals(empty.body.withdrawals, []);
});

shared(
  "a date filter takes dates and date-times of ISO 8601; without an offset they are UTC's",
  async (api, t) => {
    const { key } = await api.addMerchant();
    const body = { amount: "5", currency: "USDT", network: "TRX", source: "bank" };
    assertEquals((await api.call("POST", "/api/deposits", { key, body })).status, 201);
    await api.sql`UPDATE book.deposit SET created_at = '2026-03-05T16:00:00.000Z'`;
    const total = async (query: string) =>
      (await api.call("GET", `/api/deposits?${query}`, { key })).body.pagination?.total;
    const rows: readonly [string, number][] = [
      ["startDate=2026-03-05", 1],
      ["startDate=2026-03-06", 0],
      ["endDate=2026-03-05", 1],
      ["endDate=2026-03-04", 0],
      ["startDate=2026-03-05&endDate=2026-03-05", 1],
      ...["", ":00", ":00.000", ":00.000000"].flatMap((seconds): [string, number][] => [
        [`startDate=2026-03-05T16:00${seconds}`, 1],
        [`startDate=2026-03-05T16:01${seconds}`, 0],
        [`endDate=2026-03-05T16:00${seconds}Z`, 1],
        [`endDate=2026-03-05T15:59${seconds}Z`, 0],
        [`startDate=2026-03-06T00:00${seconds}%2B08:00&endDate=2026-03-06T00:00${seconds}%2B08`, 1],
        [`endDate=2026-03-05T23:59${seconds}%2B08:00`, 0],
      ]),
    ];
    for (const [query, found] of rows) {
      await t.step(query, async () => assertEquals(await total(query), found));
    }
  },
);

shared("page numbers, limits and dates that make no sense are refused", async (api, t) => {
  const { key } = await api.addMerchant();
  const faults = [
    "page=0",
    "page=-1",
    "page=1.5",
    "page=x",
    "limit=0",
    "limit=101",
    "limit=1e2",
    "status=DONE",
    "startDate=yesterday",
    "endDate=2026-13-01",
    "endDate=2026-02-30T00:00",
    "startDate=2026-01-01T24:00:00",
    "startDate=2026-01-01T00:00:00%2B0800",
    "startDate=2026-01-01T00",
    "endDate=9999-12-31",
    "startDate=9999-12-31T23:59:59-23:59",
    "startDate=0000-01-01",
    "startDate=1969-12-31",
  ];
  for (const query of faults) {
    await t.step(query, async () => {
      for (const path of ["/api/deposits", "/api/transactions"]) {
        const answer = await api.call("GET", `${path}?${query}`, { key });
        assertEquals([answer.status, answer.body.error], [400, "Invalid request data"]);
        assertEquals(answer.body.details[0].path, [query.split("=")[0]]);
      }
    });
  }
  await t.step("a reversed range is a 422", async () => {
    const answer = await api.call("GET", "/api/deposits?startDate=2026-02-01&endDate=2026-01-31", {
      key,
    });
    assertEquals([answer.status, answer.body.error], [422, "Validation failed"]);
    const one = await api.call("GET", "/api/deposits?startDate=2026-02-01&endDate=2026-02-01", {
      key,
    });
    assertEquals(one.status, 200);
  });
});

shared("a deposit is listed with its fees, its transaction and its address", async (api) => {
  const { id, key } = await api.addMerchant();
  await api.sql`
    UPDATE book.merchant SET deposit_commission_rate = 0.01 WHERE merchant_id = ${id}`;
  const { body: issued } = await api.call("POST", "/api/deposit-address", {
    key,
    body: { network: "TRX", identifier: "eve", referenceId: "order-9" },
  });
  const [address] = await api.sql`SELECT id FROM book.deposit_address`;
  const txid = "ab".repeat(32);
  await api.sql`
    INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
    VALUES (${id}, 'TRX', ${txid}, 0, 'solid', ${
    api.sql.json({
      currency: "USDT",
      amount: "100",
      from: SOMEWHERE,
      to: issued.address,
      addressId: address?.id,
      height: 7,
      diesAfter: 1_800_000_000_000,
      expiresAt: 1_800_000_000_000,
    })
  })`;
  await fund(api.sql, api.journal, id, "0.5");
  const { body } = await api.call("GET", "/api/deposits?referenceId=order-9", { key });
  assertEquals(body.pagination.total, 1);
  const { id: depositId, createdAt, updatedAt, clearedAt, ...row } = body.deposits[0];
  for (const time of [createdAt, updatedAt, clearedAt]) assertMatch(time, /Z$/);
  assertEquals(row, {
    amount: "100",
    currency: "USDT",
    network: "TRX",
    status: "CONFIRMED",
    source: "onchain",
    referenceId: "order-9",
    description: null,
    fee: "0.5",
    commission: "1",
    commissionRate: "0.01",
    depositAddressId: address?.id,
    createdBy: null,
    depositAddress: { id: address?.id, address: issued.address, networkSymbol: "TRX" },
    metadata: { txHash: txid },
  });
  const listed = await api.call("GET", "/api/deposit-address", { key });
  assertEquals(listed.body.addresses[0].deposits, [{
    id: depositId,
    amount: "100",
    currency: "USDT",
    status: "CONFIRMED",
    createdAt,
  }]);
  // midnight may have come between the two
  const today = new Date().toISOString().slice(0, 10);
  const range = `startDate=${createdAt.slice(0, 10)}&endDate=${today}`;
  const dated = await api.call("GET", `/api/deposits?${range}`, { key });
  assertEquals(dated.body.pagination.total, 2);
  const before = await api.call("GET", `/api/deposits?endDate=${encodeURIComponent(createdAt)}`, {
    key,
  });
  assert(before.body.pagination.total >= 1);
  const past = await api.call("GET", "/api/deposits?endDate=2020-01-01", { key });
  assertEquals(past.body.pagination, { total: 0, page: 1, limit: 10, pages: 0 });
});

test("running balances run over all rows of the pair and end at what is available", async () => {
  await using api = await testApi();
  const { id, key } = await busyMerchant(api);
  await addTransfer(api.sql, id, "5", { network: "TRX_SHASTA" });
  await fund(api.sql, api.journal, id, "1.5");
  const pair = "currency=USDT&network=TRX";
  const { body } = await api.call("GET", `/api/transactions?${pair}&limit=100`, { key });
  const held = await api.call("GET", `/api/balance?${pair}`, { key });
  assertEquals(body.balance, {
    currency: "USDT",
    network: "TRX",
    available: held.body.available,
  });
  const lines = body.transactions;
  assertEquals(lines.length, 31);
  assertEquals(lines[0].balanceAfter, held.body.available);
  assertEquals(lines.at(-1).balanceBefore, "0");
  for (let i = 0; i + 1 < lines.length; i++) {
    assertEquals(lines[i].balanceBefore, lines[i + 1].balanceAfter);
  }
  for (const line of lines) {
    if (line.status === "FAILED") assertEquals(line.balanceBefore, line.balanceAfter);
    assertEquals(
      Date.parse(line.createdAtGmt8),
      Date.parse(line.createdAt),
    );
    assertMatch(line.createdAtGmt8, /\+08:00$/);
    assertMatch(line.age, /^(just now|\d+ seconds? ago)$/);
    const kind = line.type === "DEPOSIT" ? "Deposit" : "Withdrawal";
    assertEquals([line.category.name, line.tags, line.token], [kind, [], "USDT"]);
  }
  const byId = new Map(lines.map((line: Row) => [line.id, line]));
  for (const filter of ["type=WITHDRAWAL", "status=FAILED", `${pair}&type=DEPOSIT`, "page=3"]) {
    const some = await api.call("GET", `/api/transactions?${filter}&limit=4`, { key });
    assert(some.body.transactions.length > 0);
    for (const line of some.body.transactions) {
      if (byId.has(line.id)) {
        assertEquals(line, {
          ...byId.get(line.id) as object,
          age: line.age,
        });
      }
    }
  }
  const open = await api.call("GET", "/api/transactions?currency=USDT", { key });
  assertEquals(open.body.balance, { currency: "USDT", network: null, available: null });
  assertEquals(open.body.pagination, { total: 32, page: 1, limit: 20, pages: 2 });
});

test("a withdrawal's statement line is the whole debit", async () => {
  await using api = await testApi();
  const { key } = await api.addMerchant("100");
  await api.call("POST", "/api/withdrawals", { key, body: { ...PAYOUT, amount: "10" } });
  const { body } = await api.call("GET", "/api/transactions?type=WITHDRAWAL", { key });
  const [line] = body.transactions;
  assertEquals(
    [line.amount, line.fee, line.to, line.status, line.balanceBefore, line.balanceAfter],
    ["-12", "2", SOMEWHERE, "PENDING", "100", "88"],
  );
});

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
  await sql`UPDATE book.account SET transaction_seq = ${ROWS}`;
  await sumBuckets(sql, merchantId);
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

shared(
  "a parameter that a list does not know is refused by its name, and filters nothing",
  async (api) => {
    const { id, key } = await api.addMerchant();
    const unknown: readonly (readonly [string, string])[] = [
      ["/api/withdrawals?reference=x", "reference"],
      ["/api/deposits?limit=1&reference=x", "reference"],
      ["/api/balance?pair=USDT", "pair"],
      ["/api/settlements?Status=PENDING", "Status"],
      [`/api/merchants/${id}?x`, "x"],
    ];
    for (const [path, name] of unknown) {
      const { status, body } = await api.call("GET", path, { key });
      assertEquals([status, body.details], [400, [
        { path: [name], message: "There is no such parameter", code: "unrecognized_keys" },
      ]], path);
    }
    const made = await api.call("POST", "/api/deposit-address?x=1", {
      key,
      body: { network: "TRX", identifier: "a" },
    });
    assertEquals(made.status, 400);
  },
);
