import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { fixedRates } from "../../rates/fixed_rates.ts";
import type { Rates } from "../../rates/rates.ts";
import { testApi } from "../support/api.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { pay } from "./support/chain.ts";
import { issueAddress, openShop } from "./support/shop.ts";
import { suite } from "./support/suite.ts";

const test = testNeeding(DATABASE);
const rule = suite("Deposits");

rule(
  "POST /api/deposit-address: repeated, it is the same record with its reference refreshed",
  async (api) => {
    const shop = await openShop(api);
    const create = (body: object, headers?: Record<string, string>) =>
      shop.post("/api/deposit-address", { network: "TRX", identifier: "a", ...body }, headers);
    const first = await create({ referenceId: "r1" });
    const again = await create({ referenceId: "r2" });
    assertEquals([first.status, again.status], [201, 201]);
    assertEquals([again.body.address, again.body.referenceId], [first.body.address, "r2"]);
    await pay(api, shop.id, first.body.address, "5");
    assertEquals((await shop.newest("deposits")).referenceId, "r2");
    const kept = await create({});
    assertEquals(kept.body.address, first.body.address);
    await pay(api, shop.id, first.body.address, "6");
    assertEquals((await shop.newest("deposits")).referenceId, "r2", "not supplied: it stays");
    const only = await create({}, { "if-none-match": "*" });
    assertEquals([only.status, only.body.error], [409, "Deposit address already exists"]);
    const other = await create({ network: "TRX_SHASTA" }, { "if-none-match": "*" });
    assertEquals(other.status, 201);
    assertNotEquals(other.body.address, first.body.address);
  },
);

rule(
  "POST /api/deposit-address: the identifier is 1 to 128 characters of its alphabet",
  async (api) => {
    const shop = await openShop(api);
    const status = async (identifier: string) =>
      (await shop.post("/api/deposit-address", { network: "TRX", identifier })).status;
    for (const right of ["a", "A.b_c:d@e-9", "x".repeat(128)]) {
      assertEquals(await status(right), 201, right);
    }
    for (const wrong of ["", "x".repeat(129), "a b", "ä", "a/b", "a\n", "a\u0000"]) {
      assertEquals(await status(wrong), 400, JSON.stringify(wrong));
    }
  },
);

rule(
  "GET /api/deposit-address and GET /api/deposit-url: newest first, by network, own ones only",
  async (api) => {
    const [shop, stranger] = [await openShop(api), await openShop(api)];
    await issueAddress(stranger);
    for (
      const [path, list] of [["/api/deposit-address", "addresses"], [
        "/api/deposit-url",
        "depositUrls",
      ]]
    ) {
      assert(path !== undefined && list !== undefined);
      const made: string[] = [];
      for (const network of ["TRX", "TRX_SHASTA", "TRX"]) {
        const identifier = `customer-${made.length}`;
        made.unshift((await shop.post(path, { network, identifier })).body.address);
      }
      const get = async (query: string) =>
        (await shop.get(path + query)).body[list].map(({ address }: { address: string }) =>
          address
        );
      assertEquals(await get(""), made);
      assertEquals(await get("?network=TRX"), [made[0], made[2]]);
      assertEquals(await get("?network=TRX_SHASTA"), [made[1]]);
      assertEquals(await get("?network=SOL"), []);
      assertEquals(await get("?limit=2"), made.slice(0, 2));
      assertEquals(await get("?limit=2&page=2"), made.slice(2));
      assertEquals((await shop.get(`${path}?network=BTC`)).status, 400);
    }
  },
);

test("POST /api/deposit-url: without a fresh rate it is issued without exchangeRate and amount", async () => {
  let rates: Rates = fixedRates(() => Date.now());
  await using api = await testApi({
    rates: { find: (...of) => rates.find(...of) },
  });
  const shop = await openShop(api);
  const create = async (fields: object) =>
    (await shop.post("/api/deposit-url", { network: "TRX", identifier: "a", ...fields })).body;
  const quoted = await create({ requestedAmount: "10", requestedCurrency: "EUR" });
  assert("exchangeRate" in quoted && "amount" in quoted);
  rates = { find: () => null };
  const bare = await create({ requestedAmount: "10", requestedCurrency: "EUR" });
  assert(!("exchangeRate" in bare) && !("amount" in bare));
  assertEquals([bare.requestedAmount, bare.requestedCurrency], ["10", "EUR"]);
  const away = await shop.get("/api/exchange-rates?requestedCurrency=EUR");
  assertEquals([away.status, away.body.error], [503, "Service unavailable"]);
});

rule(
  "POST /api/deposit-url: amount and currency come together, the rest is checked",
  async (api) => {
    const shop = await openShop(api);
    const create = async (fields: object) =>
      (await shop.post("/api/deposit-url", { network: "TRX", identifier: "a", ...fields })).status;
    assertEquals(await create({ requestedAmount: "10" }), 422);
    assertEquals(await create({ requestedCurrency: "EUR" }), 422);
    assertEquals(await create({ requestedAmount: "0", requestedCurrency: "EUR" }), 400);
    assertEquals(await create({ requestedAmount: "-1", requestedCurrency: "EUR" }), 400);
    assertEquals(await create({ requestedAmount: "10", requestedCurrency: "EURO" }), 400);
    assertEquals(await create({ requestedAmount: 10, requestedCurrency: "EUR" }), 400);
    assertEquals(await create({ token: "USDT" }), 201);
  },
);

rule("GET /api/deposit-page/status: any number of polls, no key, no-store", async (api) => {
  const shop = await openShop(api);
  const { body } = await shop.post("/api/deposit-url", { network: "TRX", identifier: "a" });
  const path = `/api/deposit-page/status?token=${body.sessionToken}`;
  for (let i = 0; i < 20; i++) {
    const { status, headers } = await api.call("GET", path);
    assertEquals([status, headers.get("cache-control")], [200, "no-store"]);
  }
  const changed = body.sessionToken.replace(/.$/, (last: string) => last === "A" ? "B" : "A");
  const wrong = await api.call("GET", `/api/deposit-page/status?token=${changed}`);
  assertEquals([wrong.status, wrong.body], [404, { error: "Invalid token" }]);
});

rule("GET /api/deposits: filters by status, currency, network, reference and date", async (api) => {
  const shop = await openShop(api);
  const [one, two] = [
    await issueAddress(shop, "a", "ref-a"),
    await issueAddress(shop, "b", "ref-b"),
  ];
  await pay(api, shop.id, one, "1");
  await pay(api, shop.id, two, "2");
  await pay(api, shop.id, two, "3", { phase: "seen" });
  const get = async (query: string) =>
    (await shop.get(`/api/deposits?${query}`)).body.deposits
      .map(({ amount }: { amount: string }) => amount);
  assertEquals(await get(""), ["3", "2", "1"]);
  assertEquals(await get("status=PENDING"), ["3"]);
  assertEquals(await get("status=CONFIRMED"), ["2", "1"]);
  assertEquals(await get("status=CANCELLED"), []);
  assertEquals(await get("referenceId=ref-a"), ["1"]);
  assertEquals(await get("network=TRX&currency=USDT"), ["3", "2", "1"]);
  assertEquals(await get("currency=USDC"), []);
  assertEquals(await get("limit=2&page=2"), ["1"]);
  const today = new Date().toISOString().slice(0, 10);
  assertEquals((await get(`startDate=2026-01-01&endDate=${today}`)).length, 3);
  assertEquals(await get("endDate=2020-01-01"), []);
  for (const query of ["status=DONE", "startDate=today", "endDate=2026-02-30", "currency=usdt"]) {
    assertEquals((await shop.get(`/api/deposits?${query}`)).status, 400, query);
  }
});

rule(
  "POST /api/deposits: needs write, credits only its pair's pending balance, may link an address",
  async (api) => {
    const [shop, stranger] = [await openShop(api), await openShop(api)];
    const deposit = { amount: "12.5", currency: "USDT", network: "TRX", source: "bank" };
    await issueAddress(shop);
    const { body: listed } = await shop.get("/api/deposit-address");
    const { status, body } = await shop.post("/api/deposits", {
      ...deposit,
      depositAddressId: listed.addresses[0].id,
      metadata: { invoice: "7", nested: { a: [1, null] } },
    });
    assertEquals([status, body.status, body.metadata], [201, "PENDING", {
      invoice: "7",
      nested: { a: [1, null] },
    }]);
    const row = await shop.newest("deposits");
    assertEquals([row.id, row.depositAddressId], [body.id, listed.addresses[0].id]);
    assertEquals(await shop.balance(), ["0", "12.5"]);
    const other = await shop.get("/api/balance?currency=USDT&network=TRX_SHASTA");
    assertEquals(other.body.pending, "0");
    const foreign = await stranger.post("/api/deposits", {
      ...deposit,
      depositAddressId: listed.addresses[0].id,
    });
    assertEquals(foreign.status, 404, "another merchant's address");
    const closed = await shop.post("/api/deposits", { ...deposit, currency: "USDC" });
    assertEquals(closed.body.error, "Deposits of USDC on TRX are not supported");
  },
);
