import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { createHash } from "node:crypto";
import { createSessionTokens } from "../../api/http/session_token.ts";
import { type Rates } from "../../rates/rates.ts";
import { testApi, testsOfOneApi } from "../support/api.ts";
import { addTransfer, until } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("deposit url");

const SESSION = { network: "TRX", identifier: "alice" };

/** Rates that a test sets. */
function ratesOf(rate: string | null): Rates {
  return { find: () => rate === null ? null : { rate, at: Date.now() } };
}

test("a hosted page has a fresh address, a token in its url, and 15 minutes", async () => {
  await using api = await testApi({ rates: ratesOf("7.15"), publicUrl: "https://pay.example" });
  const { id, key } = await api.addMerchant();
  const before = Date.now();
  const { status, body } = await api.call("POST", "/api/deposit-url", {
    key,
    body: {
      ...SESSION,
      referenceId: "order 7&8",
      requestedAmount: "100.50",
      requestedCurrency: "CNY",
      token: "USDT",
    },
  });
  assertEquals(status, 201);
  const { url, address, sessionToken, expiresAt, ...rest } = body;
  assertMatch(sessionToken, /^[A-Za-z0-9_-]{43}$/);
  assertMatch(address, /^T[1-9A-HJ-NP-Za-km-z]{33}$/);
  assertEquals(
    url,
    `https://pay.example/deposit/${sessionToken}?ref=order+7%268&amount=100.5&currency=CNY&token=USDT`,
  );
  const life = Date.parse(expiresAt) - before;
  assert(life >= 900_000 && life < 930_000, `${life}`);
  assertEquals(rest, {
    identifier: `${id}_alice`,
    network: "TRX",
    referenceId: "order 7&8",
    requestedAmount: "100.5",
    requestedCurrency: "CNY",
    token: "USDT",
    exchangeRate: "7.15",
    amount: "14.05594406",
    payableAmount: "14.055945",
  });
  const second = await api.call("POST", "/api/deposit-url", { key, body: SESSION });
  assertNotEquals(second.body.address, address);
  assertEquals(Object.keys(second.body), [
    "url",
    "address",
    "identifier",
    "network",
    "sessionToken",
    "expiresAt",
  ]);
  assertEquals(second.body.url, `https://pay.example/deposit/${second.body.sessionToken}`);
});

test("without a fresh rate the page is issued without a quote", async () => {
  await using api = await testApi({ rates: ratesOf(null) });
  const { key } = await api.addMerchant();
  const { status, body } = await api.call("POST", "/api/deposit-url", {
    key,
    body: { ...SESSION, requestedAmount: "1", requestedCurrency: "EUR" },
  });
  assertEquals(status, 201);
  assertEquals([body.requestedAmount, body.requestedCurrency], ["1", "EUR"]);
  assert(!("exchangeRate" in body) && !("amount" in body));
});

test("a quote of a whole number still has 8 decimals", async () => {
  await using api = await testApi({ rates: ratesOf("1") });
  const { key } = await api.addMerchant();
  const { body } = await api.call("POST", "/api/deposit-url", {
    key,
    body: { ...SESSION, requestedAmount: "25", requestedCurrency: "USD" },
  });
  assertEquals([body.exchangeRate, body.amount], ["1", "25.00000000"]);
});

shared("only the hash of a token is stored, and another secret makes other tokens", async (api) => {
  const { key } = await api.addMerchant();
  const { body } = await api.call("POST", "/api/deposit-url", { key, body: SESSION });
  const [row] = await api
    .sql`SELECT s::text AS whole, encode(token_hash, 'hex') AS hash, id, nonce FROM hub.session s`;
  assert(row !== undefined);
  assertEquals(row.hash, createHash("sha256").update(body.sessionToken).digest("hex"));
  assert(!row.whole.includes(body.sessionToken));
  assertNotEquals(
    createSessionTokens("another secret of 32 characters.").of(row.id, row.nonce),
    body.sessionToken,
  );
});

shared(
  "the list shows the same url again, newest first, with the deposits, and no other merchant's",
  async (api) => {
    const { id, key } = await api.addMerchant();
    const other = await api.addMerchant();
    const create = async (body: object, by = key) =>
      (await api.call("POST", "/api/deposit-url", { key: by, body })).body;
    const first = await create({ ...SESSION, referenceId: "r1" });
    const second = await create({ ...SESSION, network: "TRX_SHASTA" });
    await create(SESSION, other.key);
    const [row] = await api
      .sql`SELECT address_id FROM hub.session WHERE address = ${first.address}`;
    await addTransfer(api.sql, id, "5", { to: first.address, addressId: row?.address_id });
    api.journal.wake(id);
    const list = async (query = "") =>
      (await api.call("GET", `/api/deposit-url${query}`, { key })).body.depositUrls;
    await until(async () => (await list())[1]?.deposits.length === 1);
    const all = await list();
    assertEquals(all.map(({ url }: { url: string }) => url), [second.url, first.url]);
    const {
      id: sessionId,
      createdAt,
      deposits: [{ id: depositId, createdAt: seenAt, ...deposit }],
      ...rest
    } = all[1];
    assertMatch(sessionId, /^ses_/);
    assertMatch(depositId, /^dep_/);
    assertMatch(createdAt + seenAt, /Z.*Z$/);
    assertEquals(rest, { url: first.url, address: first.address, network: "TRX" });
    assertEquals(deposit, { amount: "5", currency: "USDT", status: "CONFIRMED" });
    assertEquals((await list("?network=TRX")).length, 1);
    assertEquals((await list("?limit=1"))[0].url, second.url);
    assertEquals((await list("?page=2&limit=1"))[0].url, first.url);
    assertEquals(await list("?page=3&limit=1"), []);
  },
);

test("every refusal of a deposit url has the status and the text of the interface", async (t) => {
  await using api = await testApi();
  const { id, key } = await api.addMerchant();
  const readOnly = await api.addKey(id, { permissions: ["read"] });
  const call = (change: object, by = key) =>
    api.call("POST", "/api/deposit-url", { key: by, body: { ...SESSION, ...change } });
  await t.step("a network without deposits", async () => {
    const { status, body } = await call({ network: "ETH" });
    assertEquals([status, body], [400, {
      error: "Deposits on ETH are not currently supported",
      code: "deposits_not_supported_on_network",
    }]);
  });
  for (
    const [change, path] of [
      [{ requestedAmount: "1" }, "requestedCurrency"],
      [{ requestedCurrency: "EUR" }, "requestedAmount"],
    ] as const
  ) {
    await t.step(`${path} missing beside the other`, async () => {
      const { status, body } = await call(change);
      assertEquals([status, body.error], [422, "Validation failed"]);
      assertEquals(body.details[0].path, [path]);
    });
  }
  const faults: readonly [object, string][] = [
    [{ network: "trx" }, "network"],
    [{ identifier: "a\tb" }, "identifier"],
    [{ identifier: undefined }, "identifier"],
    [{ referenceId: "" }, "referenceId"],
    [{ requestedAmount: "0", requestedCurrency: "EUR" }, "requestedAmount"],
    [{ requestedAmount: "-1", requestedCurrency: "EUR" }, "requestedAmount"],
    [{ requestedAmount: 1, requestedCurrency: "EUR" }, "requestedAmount"],
    [{ requestedAmount: "1000000000000.1", requestedCurrency: "JPY" }, "requestedAmount"],
    [{ requestedAmount: "1", requestedCurrency: "EURO" }, "requestedCurrency"],
    [{ requestedAmount: "1", requestedCurrency: "eu" }, "requestedCurrency"],
    [{ requestedAmount: "1", requestedCurrency: "ABC" }, "requestedCurrency"],
    [{ requestedAmount: "1", requestedCurrency: "XAU" }, "requestedCurrency"],
    [{ token: "a\nb" }, "token"],
  ];
  for (const [change, path] of faults) {
    await t.step(JSON.stringify(change), async () => {
      const { status, body } = await call(change);
      assertEquals([status, body.error], [400, "Invalid request data"]);
      assertEquals(body.details[0].path, [path]);
    });
  }
  await t.step(
    "an amount that no deposit may have is refused as a deposit's own is",
    async () => {
      const change = { requestedAmount: "99999999999999999999.999", requestedCurrency: "JPY" };
      assertEquals((await call(change)).body.details[0].code, "too_big");
    },
  );
  await t.step("a read-only key", async () => {
    const { status, body } = await call({}, readOnly);
    assertEquals([status, body], [403, {
      error: "Insufficient permissions",
      code: "insufficient_permissions",
    }]);
  });
  await t.step("nothing was spent on what was refused", async () => {
    const [row] = await api.sql`SELECT count(*)::int AS n FROM hub.address`;
    assertEquals(row?.n, 0);
  });
  await t.step("an account that is not active", async () => {
    await api.sql`UPDATE book.merchant SET status = 'SUSPENDED' WHERE merchant_id = ${id}`;
    const fresh = await api.addKey(id);
    const { status, body } = await call({}, fresh);
    assertEquals([status, body], [403, {
      error: "Merchant account is not active",
      code: "merchant_not_active",
    }]);
  });
});

test("one Idempotency-Key makes one page: repeated it is the same answer, with another body a 409", async () => {
  let now = Date.now();
  await using api = await testApi({ rates: ratesOf("7.15"), clock: () => now });
  const [shop, other] = [await api.addMerchant(), await api.addMerchant()];
  const quote = { requestedAmount: "1.50", requestedCurrency: "CNY" };
  const ask = (change: object = {}, idempotencyKey = "order-1", key = shop.key) =>
    api.call("POST", "/api/deposit-url", {
      key,
      body: { ...SESSION, ...quote, ...change },
      headers: { "idempotency-key": idempotencyKey },
    });
  const first = await ask();
  assertEquals(first.status, 201);
  assertEquals((await ask({ requestedAmount: "1.5" })).body, first.body, "the same amount");
  for (const change of [{ requestedAmount: "2" }, { identifier: "bob" }, { token: "USDT" }]) {
    const refused = await ask(change);
    assertEquals([refused.status, refused.body.code], [409, "idempotency_conflict"]);
  }
  const second = await ask({}, "order-2");
  assertNotEquals(second.body.address, first.body.address);
  const others = await ask({}, "order-1", other.key);
  assertNotEquals(others.body.address, first.body.address);
  now += 23 * 3_600_000;
  assertEquals((await ask()).body, first.body, "also when its time is over");
  now += 3_600_001;
  const nextDay = await ask();
  assertEquals(nextDay.status, 201);
  assertNotEquals(nextDay.body.address, first.body.address);
  assertEquals((await ask()).body, nextDay.body);
  const malformed = await ask({}, "\u00fc");
  assertEquals([malformed.status, malformed.body.details[0].path], [400, ["Idempotency-Key"]]);
});

shared("requests with one Idempotency-Key at once make one page", async (api) => {
  const { key } = await api.addMerchant();
  const answers = await Promise.all(
    Array.from({ length: 8 }, () =>
      api.call("POST", "/api/deposit-url", {
        key,
        body: SESSION,
        headers: { "idempotency-key": "at once" },
      })),
  );
  assertEquals(new Set(answers.map(({ status, body }) => `${status} ${body.url}`)).size, 1);
  const list = await api.call("GET", "/api/deposit-url", { key });
  assertEquals([list.body.depositUrls.length, list.body.pagination.total], [1, 1]);
});
