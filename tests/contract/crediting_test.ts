import { assert, assertEquals } from "@std/assert";
import { testApi, testsOfOneApi } from "../support/api.ts";
import { booksFaults, SOMEWHERE } from "../support/books.ts";
import { endPayout, eventsOf, pay } from "./support/chain.ts";
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

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("contract: crediting");
const rule = suite("Crediting");

rule("1: the percentage commission is charged and recorded at its rate", async (api) => {
  const shop = await openShop(api, { rate: "0.0125" });
  const address = await issueAddress(shop);
  await pay(api, shop.id, address, "100");
  await pay(api, shop.id, address, "200.000004");
  const { body } = await shop.get("/api/deposits");
  assertEquals(
    body.deposits.map((row: Record<string, unknown>) => [row.commission, row.commissionRate]),
    [["2.5", "0.0125"], ["1.25", "0.0125"]],
  );
  // 100 - 1.25 - 0.5 and 200.000004 - 2.5
  assertEquals(await shop.balance(), ["295.750004", "0"]);
  assertEquals(await booksFaults(api.sql), []);
});

rule("2: the activation fee is 0.5 once per address, in the ledger and in `fee`", async (api) => {
  const shop = await openShop(api);
  const [first, second] = [await issueAddress(shop, "a"), await issueAddress(shop, "b")];
  await pay(api, shop.id, first, "10");
  await pay(api, shop.id, first, "10");
  await pay(api, shop.id, second, "10");
  const { body } = await shop.get("/api/deposits");
  assertEquals(body.deposits.map((row: { fee: string }) => row.fee), ["0.5", "0", "0.5"]);
  assertEquals(await shop.balance(), ["29", "0"]);
  const charges = await shop.get(`/api/merchants/${shop.id}/charges?type=ADDRESS_ACTIVATION`);
  assertEquals(charges.body.pagination.total, 2);
  for (const charge of charges.body.charges) {
    assertEquals([charge.description, charge.amount], ["Address activation fee (fixed)", "0.5"]);
  }
  assertEquals(
    charges.body.charges.map((charge: { depositId: string }) => charge.depositId),
    [body.deposits[0].id, body.deposits[2].id],
  );
  const [event] = (await eventsOf(api, shop.id)).filter(({ type }) => type === "deposit.confirmed");
  assertEquals(event?.body.feeCharges.activationFee, { amount: "0.5", charged: true });
  assertEquals(event?.body.receivableAmount, "9.5");
});

rule(
  "3: a deposit under 1 USD is credited whole, listed, and called back by nothing",
  async (api) => {
    const shop = await openShop(api, { rate: "0.1" });
    const address = await issueAddress(shop);
    await pay(api, shop.id, address, "0.999999");
    assertEquals(await shop.balance(), ["0.999999", "0"]);
    const row = await shop.newest("deposits");
    assertEquals(
      [row.status, row.amount, row.fee, row.commission],
      ["CONFIRMED", "0.999999", "0", "0"],
    );
    // the log of deliveries has it with its reason; a range that is sent once more leaves it out
    const log = async () =>
      (await shop.get("/api/webhook-deliveries")).body.deliveries.map((
        one: { event: string; status: string; reason: string | null },
      ) => [one.event, one.status, one.reason]);
    const listed = [["deposit.confirmed", "SKIPPED", "under_1_usd"]];
    assertEquals(await log(), listed);
    const sent = await shop.post("/api/webhook-deliveries/redeliver", {
      status: "SKIPPED",
      startDate: "2020-01-01",
      endDate: "2100-01-01",
    });
    assertEquals([sent.status, sent.body.redelivered], [200, 0]);
    assertEquals(await log(), listed);
    // the activation fee is still owed: the first deposit that is not exempt pays it
    await pay(api, shop.id, address, "1");
    assertEquals(await shop.balance(), ["1.399999", "0"]);
    assertEquals((await shop.newest("deposits")).fee, "0.5");
    assert((await eventsOf(api, shop.id)).some(({ type }) => type === "deposit.confirmed"));
    assertEquals(await booksFaults(api.sql), []);
  },
);

rule("1 and 2: fees never take more than the deposit", async (api) => {
  const shop = await openShop(api, { rate: "0.9" });
  const address = await issueAddress(shop);
  await pay(api, shop.id, address, "1");
  const row = await shop.newest("deposits");
  assertEquals([row.commission, row.fee], ["0.9", "0.1"]);
  assertEquals((await shop.balance())[0], "0");
  const [event] = (await eventsOf(api, shop.id)).filter(({ type }) => type === "deposit.confirmed");
  assertEquals(event?.body.receivableAmount, "0");
});

rule("4: a top-up is pending until its sweep", async (api) => {
  const shop = await openShop(api, { rate: "0.1" });
  const { status, body } = await shop.get(`/api/merchants/${shop.id}/top-up-address?network=TRX`);
  assertEquals(status, 200);
  const again = await shop.get(`/api/merchants/${shop.id}/top-up-address?network=TRX`);
  assertEquals(again.body, body, "one address, made on first use");
  await pay(api, shop.id, body.address, "50");
  assertEquals(await shop.balance(), ["0", "50"]);
  const row = await shop.newest("deposits");
  assertEquals([row.status, row.source], ["PENDING", "top_up"]);
  assert(!("depositAddress" in row), "only issued addresses are shown");
  assertEquals(await eventsOf(api, shop.id), []);
  assertEquals(await booksFaults(api.sql), []);
});

shared(
  "Crediting 5: the debit is amount + commission + networkFee, locked at submission",
  async (api) => {
    const office = await openOffice(api);
    await office.post("/api/admin/withdrawal-fees", { baseFee: "0.25", markupRate: "0.002" });
    await office.put("/api/admin/pairs", { currency: "USDT", network: "TRX", networkFee: "1.5" });
    const shop = await openShop(api, { funds: "200" });
    const { body } = await shop.post("/api/withdrawals", { ...PAYOUT, amount: "100.0005" });
    assertEquals(body.feeInfo, {
      grossAmount: "101.950501",
      netAmount: "100.0005",
      totalFees: "1.950001",
      feeBreakdown: {
        baseFee: "0.25",
        markupRate: "0.002",
        markupAmount: "0.200001",
        networkFee: "1.5",
        totalFee: "1.950001",
      },
    });
    assertEquals(await shop.balance(), ["98.049499", "0"]);
    await office.put("/api/admin/pairs", { currency: "USDT", network: "TRX", networkFee: "9" });
    await office.post("/api/admin/withdrawal-fees", { baseFee: "5" });
    await endPayout(api, body.withdrawalId, "paid");
    const row = await shop.newest("withdrawals");
    assertEquals([row.fee, row.commission, row.commissionRate], ["1.5", "0.450001", "0.002"]);
    assertEquals(await shop.balance(), ["98.049499", "0"], "the quoted fee is charged");
    const [event] = (await eventsOf(api, shop.id)).filter(({ type }) =>
      type === "withdrawal.confirmed"
    );
    assertEquals(event?.body.feeCharges, {
      amount: "0.450001",
      percentage: "0.002",
      type: "HYBRID",
      networkFee: "1.5",
    });
    assertEquals(event?.body.receivableAmount, "99.550499");
    assertEquals(await booksFaults(api.sql), []);
  },
);

test("Crediting 6: a settlement follows the same fees and drains only its own pair", async () => {
  await using api = await testApi();
  const office = await openOffice(api);
  await office.post("/api/admin/withdrawal-fees", { markupRate: "0.01" });
  const shop = await openShop(api, { funds: "100" });
  await whitelist(api, shop);
  const { body } = await shop.post("/api/settlements", SETTLEMENT);
  // base 1 + 1 % of 10 + network 1
  assertEquals([body.amount, body.totalFees], ["10", "2.1"]);
  assertEquals(await shop.balance(), ["87.9", "0"]);
  const elsewhere = await shop.post("/api/settlements", {
    ...SETTLEMENT,
    destinationNetwork: "TRX_SHASTA",
  });
  assertEquals(elsewhere.status, 400);
  const other = await shop.post("/api/withdrawals", { ...PAYOUT, network: "TRX_SHASTA" });
  assertEquals(other.body.error, "No USDT balance on TRX_SHASTA for this account");
  assertEquals(await booksFaults(api.sql), []);
});

test("Crediting 7: fee settings are an administrator's; switched off there is no commission", async () => {
  await using api = await testApi();
  const office = await openOffice(api);
  const shop = await openShop(api, { funds: "100" });
  const path = "/api/admin/withdrawal-fees";
  assertEquals((await office.get(path)).body, { baseFee: "1", markupRate: "0", enabled: true });
  for (const method of ["GET", "POST", "PUT"]) {
    const refused = await api.call(method, path, {
      key: shop.key,
      ...(method === "GET" ? {} : { body: {} }),
    });
    assertEquals([refused.status, refused.body.error], [403, "Insufficient permissions"]);
  }
  assertEquals((await office.post(path, { enabled: false })).status, 200);
  const tested = await office.put(path, { amount: "10", currency: "USDT" });
  assertEquals(tested.body.feeInfo.totalFees, "1");
  const { body } = await shop.post("/api/withdrawals", PAYOUT);
  assertEquals([body.feeInfo.feeBreakdown.baseFee, body.feeInfo.grossAmount], ["0", "11"]);
  await endPayout(api, body.withdrawalId, "paid");
  const [event] = (await eventsOf(api, shop.id)).filter(({ type }) =>
    type === "withdrawal.confirmed"
  );
  assertEquals(event?.body.feeCharges, {
    amount: "0",
    percentage: "0",
    type: "NONE",
    networkFee: "1",
  });
  assertEquals(event?.body.receivableAmount, "10");
});

rule("margins of a line are credited with the fee and clawed back with the refund", async (api) => {
  const office = await openOffice(api);
  const shop = await openShop(api, { rate: "0.01" });
  const owner = await openShop(api);
  const reseller = await office.post("/api/resellers", {
    name: "Line",
    withdrawalAddress: SOMEWHERE,
    network: "TRX",
    merchantId: owner.id,
  });
  const line = await office.put(`/api/merchants/${shop.id}/reseller`, {
    resellerId: reseller.body.id,
    marginRate: "0.333333",
  });
  assertEquals([line.status, line.body.beneficiary], [200, "merchant"]);
  const address = await issueAddress(shop);
  await pay(api, shop.id, address, "100");
  // fees 1 + 0.5; margins rounded down: 0.333333 + 0.166666
  assertEquals((await shop.balance())[0], "98.999999");
  const { body } = await shop.post("/api/withdrawals", PAYOUT);
  assertEquals((await shop.balance())[0], "87.333332");
  await endPayout(api, body.withdrawalId, "failed");
  assertEquals((await shop.balance())[0], "98.999999");
  const earned = await shop.get(`/api/merchants/${shop.id}/earnings`);
  assertEquals(earned.body.earnings.length, 1);
  const [pair] = earned.body.earnings;
  assertEquals(
    [pair.currency, pair.network, pair.marginEarned, pair.reversed, pair.net],
    ["USDT", "TRX", "0.833332", "0.333333", "0.499999"],
  );
  assertEquals(await booksFaults(api.sql), []);
});
