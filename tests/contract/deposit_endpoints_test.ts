import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { fixedRates } from "../../rates/fixed_rates.ts";
import type { Rates } from "../../rates/rates.ts";
import { addressOf, testApi } from "../support/api.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { eventsOf, pay } from "./support/chain.ts";
import { issueAddress, openShop } from "./support/shop.ts";
import { suite } from "./support/suite.ts";

const test = testNeeding(DATABASE);
const rule = suite("Deposits");

/** The array that each list answers. */
const LISTS = { "/api/deposit-address": "addresses", "/api/deposit-url": "depositUrls" } as const;

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
  "POST /api/deposit-address: the identifier is 1 to 128 characters of any script, without control characters",
  async (api) => {
    const shop = await openShop(api);
    const create = (path: string, identifier: string) =>
      shop.post(path, { network: "TRX", identifier });
    const right = [
      "a",
      "A.b_c:d@e-9",
      "x".repeat(128),
      "👩‍👧".repeat(42),
      "a+b/c?d#e%00&f=g",
      "Ærøskøbing 7",
      "客户-七",
      "مشتری‌ها",
      "клиент",
      "a b",
      `"><script>alert(1)</script>`,
      `'; DROP TABLE hub.session; --`,
      '{a},(b),"c"\\',
      "NULL",
      "../../healthz",
      // one customer each: what a script writes in two ways is not folded into one
      "\u00e9",
      "e\u0301",
      "É",
    ];
    const seen = new Set<string>();
    for (const identifier of right) {
      const { status, body } = await create("/api/deposit-address", identifier);
      assertEquals([status, body.identifier], [201, `${shop.id}_${identifier}`]);
      seen.add(body.address);
      const again = await create("/api/deposit-address", identifier);
      assertEquals([again.status, again.body.address], [201, body.address]);
      const page = await create("/api/deposit-url", identifier);
      assertEquals([page.status, page.body.identifier], [201, `${shop.id}_${identifier}`]);
      const { pathname, search } = new URL(page.body.url);
      assertEquals([pathname, search], [`/deposit/${page.body.sessionToken}`, ""]);
    }
    assertEquals(seen.size, right.length);
    const address = await issueAddress(shop, '{a},(b),"c"\\');
    await pay(api, shop.id, address, "5");
    const told = (await eventsOf(api, shop.id)).find(({ type }) => type === "deposit.confirmed");
    assertEquals(told?.body.identifier, `${shop.id}_{a},(b),"c"\\`);
    for (
      const wrong of [
        "",
        "x".repeat(129),
        "客".repeat(129),
        "a\n",
        "a\u0000",
        "a\u007f",
        "a\u0085",
        "a\u2028b",
        "abc\u202edef",
        "\ud800",
      ]
    ) {
      for (const path of ["/api/deposit-address", "/api/deposit-url"]) {
        assertEquals((await create(path, wrong)).status, 400, JSON.stringify(wrong));
      }
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
      assertEquals(await get("?network=TRX&limit=1&page=2"), [made[2]]);
      const paged = async (query: string) => (await shop.get(path + query)).body.pagination;
      assertEquals(await paged(""), { total: 3, page: 1, limit: 1_000, pages: 1 });
      assertEquals(await paged("?limit=2&page=2"), { total: 3, page: 2, limit: 2, pages: 2 });
      assertEquals(await paged("?network=TRX"), { total: 2, page: 1, limit: 1_000, pages: 1 });
      assertEquals(await paged("?network=SOL"), { total: 0, page: 1, limit: 1_000, pages: 0 });
      // a page past the end is empty and still tells how many there are
      assertEquals(await get("?limit=2&page=3"), []);
      assertEquals((await paged("?limit=2&page=3")).total, 3);
      assertEquals((await shop.get(`${path}?network=BTC`)).status, 400);
    }
  },
);

rule(
  "GET /api/deposit-address and GET /api/deposit-url: what a page leaves out is on the next ones",
  async (api) => {
    const shop = await openShop(api);
    const first = await issueAddress(shop, "oldest");
    const { body: page } = await shop.post("/api/deposit-url", { network: "TRX", identifier: "p" });
    // 1,100 more of each, as the journal writes them
    const indexes = Array.from({ length: 1_100 }, (_, i) => 500_000 + i);
    await api.sql`
      INSERT INTO book.deposit_address (id, merchant_id, network, address, wallet_index, kind, identifier, activated, created_at)
      SELECT 'adr_z' || i, ${shop.id}, 'TRX', address, i, 'issued', 'i' || i, false, now()
      FROM unnest(${indexes}::int[], ${indexes.map(addressOf)}::text[]) AS t(i, address)`;
    await api.sql`
      INSERT INTO hub.session SELECT (jsonb_populate_record(s, jsonb_build_object('id', 'ses_' || i,
        'seq', s.seq + i, 'token_hash', sha256(i::text::bytea), 'nonce', md5('n' || i)))).*
      FROM hub.session s, generate_series(1, 1100) i WHERE s.merchant_id = ${shop.id}`;
    await api.sql`
      UPDATE hub.session_counter SET last = last + 1100 WHERE merchant_id = ${shop.id}`;
    const oldest: Record<string, string> = {
      "/api/deposit-address": first,
      "/api/deposit-url": page.address,
    };
    for (const [path, list] of Object.entries(LISTS)) {
      for (const network of ["", "network=TRX&"]) {
        const found = new Set<string>();
        let pages = 1;
        for (let at = 1; at <= pages; at++) {
          const { body } = await shop.get(`${path}?${network}page=${at}`);
          pages = body.pagination.pages;
          assertEquals([body.pagination.total, pages], [1_101, 2]);
          for (const { id } of body[list]) found.add(id);
          if (at === pages) assertEquals(body[list].at(-1).address, oldest[path]);
        }
        assertEquals(found.size, 1_101);
      }
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
  assertEquals([wrong.status, wrong.body], [404, {
    error: "Invalid token",
    code: "invalid_token",
  }]);
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
