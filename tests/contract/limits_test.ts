import { assert, assertEquals, assertMatch } from "@std/assert";
import { testApi, testsOfOneApi } from "../support/api.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { openOffice, openShop, PAYOUT, type Shop } from "./support/shop.ts";

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("contract: limits");

/** Text and code of the answer beyond a limit. */
const LIMITED = "rate_limit_exceeded";

/** Requests of one kind, as fast as they go; the first that is turned away and how many passed. */
async function exhaust(request: () => ReturnType<Shop["get"]>, bound: number) {
  let passed = 0;
  while (passed <= bound) {
    const answers = await Promise.all(Array.from({ length: 25 }, request));
    const refused = answers.find(({ status }) => status === 429);
    passed += answers.filter(({ status }) => status !== 429).length;
    if (refused !== undefined) return { passed, refused };
  }
  throw new Error(`${passed} requests passed`);
}

/** Rate limits of the contract, each with a request that counts against it and its answer. */
const LIMITS: readonly (readonly [string, number, (shop: Shop) => ReturnType<Shop["get"]>])[] = [
  ["Balance", 1_000, (shop) => shop.get("/api/balance?currency=USDT&network=TRX")],
  ["Deposits", 100, (shop) => shop.post("/api/deposit-address", {})],
  ["Withdrawals", 50, (shop) => shop.post("/api/withdrawals", {})],
  ["Transactions", 500, (shop) => shop.get("/api/transactions?page=0")],
];

test("Limits: each category allows its requests per minute and then answers 429 with its body", async (t) => {
  // a clock that stands still, so that no window ends while it is counted
  const now = Date.parse("2026-08-13T09:30:10.500Z");
  await using api = await testApi({ clock: () => now });
  for (const [name, limit, request] of LIMITS) {
    await t.step(name, async () => {
      const shop = await openShop(api);
      const first = await request(shop);
      assertEquals(first.headers.get("ratelimit-limit"), String(limit));
      assertEquals(first.headers.get("ratelimit-remaining"), String(limit - 1));
      assertMatch(first.headers.get("ratelimit-reset") ?? "", /^\d+$/);
      const { passed, refused } = await exhaust(() => request(shop), limit);
      assertEquals(passed + 1, limit);
      const { error, code, message, details, ...more } = refused.body;
      assertEquals([error, code, typeof message, more], [LIMITED, LIMITED, "string", {}]);
      assertEquals(Object.keys(details).toSorted(), ["limit", "remaining", "reset"]);
      assertEquals([details.limit, details.remaining], [limit, 0]);
      assert(Number.isInteger(details.reset));
      assert(details.reset * 1_000 > now && details.reset * 1_000 <= now + 61_000, "Unix seconds");
      assertMatch(refused.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
      const other = await openShop(api);
      assert((await request(other)).status !== 429, "counted per key");
    });
  }
});

test("Limits: categories do not eat each other's requests, and a minute later all are back", async () => {
  let now = Date.parse("2026-08-13T09:30:10.500Z");
  await using api = await testApi({ clock: () => now });
  const shop = await openShop(api, { funds: "100" });
  await exhaust(() => shop.post("/api/withdrawals", {}), 50);
  assertEquals((await shop.post("/api/withdrawals", PAYOUT)).status, 429);
  assertEquals((await shop.get("/api/withdrawals")).status, 200, "lists are Transactions");
  assertEquals((await shop.get("/api/balance")).status, 200);
  assertEquals((await shop.post("/api/deposit-address", {})).status, 400);
  now += 60_000;
  assertEquals((await shop.post("/api/withdrawals", PAYOUT)).status, 201);
});

test("Limits: Authentication counts failures per address and turns only them away", async () => {
  const now = Date.parse("2026-08-13T09:30:10.500Z");
  await using api = await testApi({ clock: () => now });
  const shop = await openShop(api);
  const fail = () => api.call("GET", "/api/balance", { key: "sk_development_wrong" });
  const { passed, refused } = await exhaust(fail, 100);
  assertEquals(passed, 100);
  assertEquals(refused.body.details.limit, 100);
  assertEquals((await shop.get("/api/balance")).status, 200);
});

test("Limits: an administrator's override holds at once; 0 is unlimited, null the default", async () => {
  const now = Date.parse("2026-08-13T09:30:10.500Z");
  await using api = await testApi({ clock: () => now });
  const [shop, office] = [await openShop(api), await openOffice(api)];
  const set = async (withdrawals: number | null) => {
    const path = `/api/merchants/${shop.id}`;
    assertEquals((await office.patch(path, { rateLimits: { withdrawals } })).status, 200);
  };
  const limit = async () =>
    (await shop.post("/api/withdrawals", {})).headers.get("ratelimit-limit");
  await set(7);
  assertEquals(await limit(), "7");
  await set(0);
  assertEquals(await limit(), null);
  await set(null);
  assertEquals(await limit(), "50");
});

shared("Limits: page size is at most 100; defaults are those of each endpoint", async (api) => {
  const shop = await openShop(api);
  const defaults = { deposits: 10, withdrawals: 10, transactions: 20, settlements: 20 };
  for (const [list, limit] of Object.entries(defaults)) {
    const { body } = await shop.get(`/api/${list}`);
    assertEquals(body.pagination, { total: 0, page: 1, limit, pages: 0 });
    assertEquals(body[list], []);
    const most = await shop.get(`/api/${list}?limit=100&page=9`);
    assertEquals(most.body.pagination, { total: 0, page: 9, limit: 100, pages: 0 });
    for (const query of ["limit=101", "limit=0", "page=0", "limit=-1", "page=1.5", "limit=ten"]) {
      const { status, body } = await shop.get(`/api/${list}?${query}`);
      assertEquals([status, body.error], [400, "Invalid request data"], `${list}?${query}`);
    }
  }
});

shared(
  "Limits: a deposit amount has at most 18 decimals, credited to the last one",
  async (api) => {
    const shop = await openShop(api);
    const create = async (amount: string) => {
      const { status, body } = await shop.post("/api/deposits", {
        amount,
        currency: "USDT",
        network: "TRX",
        source: "bank",
      });
      return [status, body.amount ?? body.error];
    };
    const office = await openOffice(api);
    assertEquals(await create("1.000000000000000001"), [201, "1.000000000000000001"]);
    assertEquals(await create("2.50"), [201, "2.5"]);
    assertEquals(await shop.balance(), ["0", "3.500000000000000001"]);
    const { body } = await shop.get("/api/deposits");
    for (const { id } of body.deposits) {
      assertEquals((await office.post(`/api/admin/deposits/${id}/confirm`)).status, 200);
    }
    assertEquals(await shop.balance(), ["3.500000000000000001", "0"]);
    // what a chain cannot carry stays: a withdrawal is exact in the token's 6 decimals
    const [row] = (await shop.get("/api/balance?network=TRX")).body.balances;
    assertEquals(row.maxWithdrawable, "2.5");
    const dust = await shop.post("/api/withdrawals", { ...PAYOUT, amount: "1.000000000000000001" });
    assertEquals([dust.status, dust.body.error], [400, "Invalid request data"]);
    assertEquals(await create("1.0000000000000000001"), [400, "Invalid request data"]);
    assertEquals(await create("0"), [400, "Invalid request data"]);
  },
);
