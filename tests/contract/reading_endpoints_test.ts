import { assert, assertEquals } from "@std/assert";
import { add, type Amount, formatAmount } from "../../ledger/money/amount.ts";
import { testApi, testsOfOneApi } from "../support/api.ts";
import { amount, booksFaults, SOMEWHERE } from "../support/books.ts";
import { endPayout, pay } from "./support/chain.ts";
import {
  assertFields,
  decimal,
  id,
  iso,
  number,
  oneOf,
  orNull,
  signed,
  text,
} from "./support/shape.ts";
import {
  issueAddress,
  openOffice,
  openShop,
  PAYOUT,
  SETTLEMENT,
  whitelist,
} from "./support/shop.ts";
import { suite } from "./support/suite.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

/** The day in UTC, as filters of dates name it; after midnight it is another one. */
const today = () => new Date().toISOString().slice(0, 10);

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("contract: reading endpoints");
const rule = suite("Reading");

shared("GET /api/balance: both parameters give a row, one or none a filtered list", async (api) => {
  const [shop, office] = [await openShop(api, { funds: "100" }), await openOffice(api)];
  const get = async (query: string) => (await shop.get(`/api/balance${query}`)).body;
  assertEquals(Object.keys(await get("?currency=USDT&network=TRX")).toSorted(), [
    "available",
    "currency",
    "lastUpdatedAt",
    "network",
    "pending",
  ]);
  const { balances } = await get("");
  assertEquals(
    balances.map((row: Record<string, string>) => `${row.currency}/${row.network}`),
    ["USDT/TRX", "USDT/TRX_SHASTA"],
  );
  assertEquals((await get("?network=TRX")).balances.length, 1);
  assertEquals((await get("?currency=USDT")).balances.length, 2);
  assertEquals((await get("?currency=USDC")).balances, [], "a disabled pair answers empty");
  const closed = await get("?currency=USDC&network=ETH");
  assertEquals([closed.available, closed.pending, closed.lastUpdatedAt], ["0", "0", null]);
  await office.put("/api/admin/pairs", {
    currency: "USDT",
    network: "TRX",
    withdrawalsEnabled: false,
  });
  const [row] = (await get("?network=TRX")).balances;
  assertEquals(
    [row.available, row.withdrawalEnabled, row.networkFee, row.maxWithdrawable],
    ["100", false, null, "0"],
    "networkFee is null when withdrawals are disabled",
  );
  for (const query of ["?currency=EUR", "?network=BTC", "?currency=usdt", "?network="]) {
    assertEquals((await shop.get(`/api/balance${query}`)).status, 400, query);
  }
});

test("GET /api/balance: maxWithdrawable can be withdrawn when there is no commission", async () => {
  await using api = await testApi();
  const office = await openOffice(api);
  await office.post("/api/admin/withdrawal-fees", { enabled: false });
  const shop = await openShop(api, { funds: "57.123456" });
  const [row] = (await shop.get("/api/balance?network=TRX")).body.balances;
  assertEquals(row.maxWithdrawable, "56.123456");
  const { status } = await shop.post("/api/withdrawals", {
    ...PAYOUT,
    amount: row.maxWithdrawable,
  });
  assertEquals(status, 201);
  assertEquals(await shop.balance(), ["0", "0"]);
});

test("GET /api/balance: largestWithdrawal can be withdrawn with every commission, and no unit more", async () => {
  await using api = await testApi();
  const office = await openOffice(api);
  const shop = await openShop(api, { funds: "57.123456" });
  for (
    const fees of [{ baseFee: "1", markupRate: "0" }, { baseFee: "0.3", markupRate: "0.0137" }]
  ) {
    await office.post("/api/admin/withdrawal-fees", fees);
    const [row] = (await shop.get("/api/balance?network=TRX")).body.balances;
    const largest = amount(row.largestWithdrawal);
    const ask = (asked: Amount) =>
      shop.post("/api/withdrawals", { ...PAYOUT, amount: formatAmount(asked) });
    const tooMuch = await ask(add(largest, amount("0.000001")));
    assertEquals([tooMuch.status, tooMuch.body.code], [400, "insufficient_balance"]);
    if (fees.markupRate !== "0") assertEquals((await ask(largest)).status, 201);
  }
  const [left] = (await shop.get("/api/balance?network=TRX")).body.balances;
  assertEquals(left.largestWithdrawal, "0", "below the minimum nothing can be withdrawn");
});

test("what a payout, a deposit and a page cost is read before, and is what is charged", async () => {
  await using api = await testApi();
  const office = await openOffice(api);
  const shop = await openShop(api, { funds: "100" });
  const profile = (await shop.get(`/api/merchants/${shop.id}`)).body;
  assertEquals(profile.activationFee, "0.5");
  for (
    const [settings, baseFee, markupRate] of [
      [{ baseFee: "0.3", markupRate: "0.02", enabled: true }, "0.3", "0.02"],
      [{ baseFee: "0.3", markupRate: "0.02", enabled: false }, "0", "0"],
    ] as const
  ) {
    await office.post("/api/admin/withdrawal-fees", settings);
    const [row] = (await shop.get("/api/balance?network=TRX")).body.balances;
    assertEquals([row.baseFee, row.markupRate], [baseFee, markupRate]);
    const { feeBreakdown } = (await shop.post("/api/withdrawals", PAYOUT)).body.feeInfo;
    assertEquals(
      [feeBreakdown.baseFee, feeBreakdown.markupRate, feeBreakdown.networkFee],
      [row.baseFee, row.markupRate, row.networkFee],
    );
  }
  await api.sql`UPDATE book.pair SET withdrawals_enabled = false WHERE network = 'TRX'`;
  const [closed] = (await shop.get("/api/balance?network=TRX")).body.balances;
  assertEquals([closed.networkFee, closed.baseFee, closed.markupRate], [null, null, null]);
});

rule(
  "GET /api/transactions: filters narrow the rows and leave their running balances alone",
  async (api) => {
    const shop = await openShop(api, { funds: "100" });
    await whitelist(api, shop);
    const withdrawal = await shop.post("/api/withdrawals", { ...PAYOUT, description: "one" });
    await endPayout(api, withdrawal.body.withdrawalId, "failed");
    await shop.post("/api/withdrawals", PAYOUT);
    await shop.post("/api/settlements", SETTLEMENT);
    const pair = "currency=USDT&network=TRX";
    const get = async (query: string) =>
      (await shop.get(`/api/transactions?${query}`)).body.transactions;
    const all = await get(pair);
    assertEquals(
      all.map((
        row: Record<string, string>,
      ) => [row.type, row.status, row.amount, row.balanceAfter]),
      [
        ["SETTLEMENT", "PENDING", "-12", "76"],
        ["WITHDRAWAL", "PENDING", "-12", "88"],
        ["WITHDRAWAL", "FAILED", "0", "100"],
        ["DEPOSIT", "CONFIRMED", "100", "100"],
      ],
    );
    const ages = (rows: { id: string }[]) => rows.map(({ id }) => id);
    const pick = (...indexes: number[]) => indexes.map((index) => all[index].id);
    assertEquals(ages(await get("type=WITHDRAWAL")), pick(1, 2));
    assertEquals(ages(await get("type=SETTLEMENT")), pick(0));
    assertEquals(ages(await get("status=FAILED")), pick(2));
    assertEquals(ages(await get("status=PENDING&type=WITHDRAWAL")), pick(1));
    assertEquals(await get("network=TRX_SHASTA"), []);
    assertEquals(
      ages(await get(`startDate=${all[1].createdAt}&endDate=${all[1].createdAt}`))
        .includes(all[1].id),
      true,
    );
    assertEquals(await get("startDate=2100-01-01"), []);
    const [failed] = await get("status=FAILED");
    assertEquals([failed.balanceBefore, failed.balanceAfter], ["100", "100"]);
  },
);

rule(
  "GET /api/transactions: `balance` echoes the filters, available only with both",
  async (api) => {
    const shop = await openShop(api, { funds: "100" });
    const get = async (query: string) =>
      (await shop.get(`/api/transactions?${query}`)).body.balance;
    assertEquals(await get("currency=USDT&network=TRX"), {
      currency: "USDT",
      network: "TRX",
      available: "100",
    });
    assertEquals(await get("currency=USDT"), { currency: "USDT", network: null, available: null });
    assertEquals(await get("network=TRX"), { currency: null, network: "TRX", available: null });
    assertEquals(await get(""), { currency: null, network: null, available: null });
    assertEquals((await get("currency=USDC&network=SOL")).available, "0");
  },
);

rule(
  "GET /api/exchange-rates: requestedCurrency is required, 3 letters, and may be unknown",
  async (api) => {
    const shop = await openShop(api);
    const get = (query: string) => shop.get(`/api/exchange-rates${query}`);
    for (
      const query of ["", "?requestedCurrency=", "?requestedCurrency=EURO", "?requestedCurrency=1"]
    ) {
      const { status, body } = await get(query);
      assertEquals([status, body.error], [400, "Invalid request data"], query);
    }
    const { body } = await get("?requestedCurrency=USD");
    assertEquals([body.baseCurrency, body.rates.TRX], ["USD", body.rates.TRX_SHASTA]);
    const unknown = await get("?requestedCurrency=ZZZ");
    assertEquals([unknown.status, unknown.body.error], [400, "Invalid request data"]);
    const unquoted = await get("?requestedCurrency=ISK");
    assertEquals([unquoted.status, unquoted.body.error], [503, "Service unavailable"]);
  },
);

rule(
  "GET .../earnings: volume, fees, margin, what was clawed back, and net, by date",
  async (api) => {
    const [office, owner] = [await openOffice(api), await openShop(api)];
    const shop = await openShop(api, { rate: "0.02" });
    const none = await shop.get(`/api/merchants/${shop.id}/earnings`);
    assertEquals(none.body, { merchantId: shop.id, earnings: [] });
    const { body: reseller } = await office.post("/api/resellers", {
      name: "Line",
      withdrawalAddress: SOMEWHERE,
      network: "TRX",
      merchantId: owner.id,
    });
    await office.put(`/api/merchants/${shop.id}/reseller`, {
      resellerId: reseller.id,
      marginRate: "0.5",
      beneficiary: "merchant",
    });
    const address = await issueAddress(shop);
    const first = today();
    await pay(api, shop.id, address, "100");
    const { body: created } = await shop.post("/api/withdrawals", PAYOUT);
    await endPayout(api, created.withdrawalId, "failed");
    for (const query of ["", `?startDate=${first}`, `?startDate=${first}&endDate=${today()}`]) {
      const { body } = await shop.get(`/api/merchants/${shop.id}/earnings${query}`);
      assertEquals(body.merchantId, shop.id);
      assertEquals(body.earnings.length, 1);
      assertFields(body.earnings[0], {
        currency: oneOf("USDT"),
        network: oneOf("TRX"),
        feeEvents: number,
        volume: decimal,
        grossFeesCharged: decimal,
        marginEarned: decimal,
        reversed: decimal,
        net: signed,
      });
      // fees 2 + 0.5 of the deposit, 1 of the withdrawal that failed; half of each is margin
      const { marginEarned, reversed, net, grossFeesCharged } = body.earnings[0];
      assertEquals([grossFeesCharged, marginEarned, reversed, net], ["3.5", "1.75", "0.5", "1.25"]);
    }
    const past = await shop.get(`/api/merchants/${shop.id}/earnings?endDate=2020-01-01`);
    assertEquals(past.body.earnings, []);
    assertEquals(await booksFaults(api.sql), []);
  },
);

rule(
  "GET .../charges: every fee with its description, reversals negative, totals over all that match",
  async (api) => {
    const shop = await openShop(api, { rate: "0.01" });
    await whitelist(api, shop);
    const address = await issueAddress(shop);
    const first = today();
    await pay(api, shop.id, address, "100");
    await shop.post("/api/settlements", SETTLEMENT);
    const { body: created } = await shop.post("/api/withdrawals", PAYOUT);
    await endPayout(api, created.withdrawalId, "failed");
    const path = `/api/merchants/${shop.id}/charges`;
    const { body } = await shop.get(path);
    for (const charge of body.charges) {
      assertFields(charge, {
        id: id("chg"),
        type: text,
        description: text,
        amount: signed,
        currency: oneOf("USDT"),
        network: oneOf("TRX"),
        depositId: orNull(id("dep")),
        withdrawalId: orNull(id("wd")),
        settlementId: orNull(id("stl")),
        createdAt: iso,
      });
    }
    const count = (type: string) =>
      body.charges.filter((charge: { type: string }) => charge.type === type).length;
    assertEquals(
      [
        "ADDRESS_ACTIVATION",
        "DEPOSIT_COMMISSION",
        "WITHDRAWAL_COMMISSION",
        "NETWORK_FEE",
        "REVERSAL",
      ].map(count),
      [1, 1, 2, 2, 2],
    );
    const sums = new Map(
      body.totals.map((
        total: Record<string, unknown>,
      ) => [total.type, [total.count, total.amount]]),
    );
    assertEquals(sums.get("ADDRESS_ACTIVATION"), [1, "0.5"]);
    assertEquals(sums.get("WITHDRAWAL_COMMISSION"), [2, "2"]);
    assertEquals(sums.get("REVERSAL"), [2, "-2"]);
    assertEquals(body.pagination, { total: 8, page: 1, limit: 20, pages: 1 });
    const paged = await shop.get(`${path}?type=NETWORK_FEE&limit=1&page=2`);
    assertEquals(paged.body.charges.length, 1);
    assertEquals(paged.body.pagination, { total: 2, page: 2, limit: 1, pages: 2 });
    assertEquals(paged.body.totals.length, 1);
    const dated = await shop.get(`${path}?startDate=${first}&currency=USDT&network=TRX`);
    assertEquals(dated.body.pagination.total, 8);
    assertEquals((await shop.get(`${path}?endDate=2020-01-01`)).body.charges, []);
    assertEquals((await shop.get(`${path}?type=TIP`)).status, 400);
    assert(
      body.charges.every(({ settlementId, withdrawalId }: Record<string, unknown>) =>
        settlementId === null || withdrawalId !== null
      ),
    );
  },
);
