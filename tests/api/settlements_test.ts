import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { addressOf, HOT_WALLET, type TestApi, testApi, testsOfOneApi } from "../support/api.ts";
import { amount, booksFaults, SOMEWHERE } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("settlements");

const SETTLEMENT = {
  currency: "USDT",
  requestedAmount: "10.5",
  destinationAddress: SOMEWHERE,
  destinationNetwork: "TRX",
};

/** A merchant with money and {@linkcode SOMEWHERE} on its whitelist, active. */
async function settler(api: TestApi, funds = "100") {
  const merchant = await api.addMerchant(funds);
  const { status, body } = await api.call("POST", "/api/settlement-addresses", {
    key: merchant.key,
    body: { address: SOMEWHERE, network: "TRX", label: "cold" },
  });
  assertEquals(status, 201);
  await activate(api, merchant.id, body.id);
  return { ...merchant, addressId: body.id as string };
}

/** Activates a settlement address as an administrator. */
async function activate(api: TestApi, merchantId: string, addressId: string): Promise<void> {
  const outcome = await api.journal.ask(merchantId, {
    type: "activate-settlement-address",
    at: Date.now(),
    addressId,
    active: true,
    audit: {
      auditId: newId("aud"),
      actor: "key_admin",
      action: "settlement-address.activate",
      requestId: "req_test",
    },
  }, 60_000);
  assertEquals(outcome.kind, "done");
}

shared(
  "a settlement answers what it costs, is listed once, and not as a withdrawal",
  async (api) => {
    const { key } = await settler(api);
    const { status, body } = await api.call("POST", "/api/settlements", { key, body: SETTLEMENT });
    assertEquals(status, 201);
    const { id, withdrawalId, createdAt, message, history, createdBy, ...rest } = body;
    assertMatch(id, /^stl_/);
    assertMatch(withdrawalId, /^wd_/);
    assertMatch(`${createdAt} ${createdBy}`, /Z key_/);
    assertEquals(typeof message, "string");
    assertEquals(rest, {
      amount: "10.5",
      currency: "USDT",
      network: "TRX",
      status: "PROCESSING",
      reason: null,
      destinationAddress: SOMEWHERE,
      destinationNetwork: "TRX",
      totalFees: "2",
      merchantAddress: { address: SOMEWHERE, label: "cold" },
    });
    const get = async (path: string) => (await api.call("GET", path, { key })).body;
    const { settlements, pagination } = await get("/api/settlements");
    assertEquals(settlements, [{ ...rest, id, withdrawalId, createdAt, history, createdBy }]);
    assertEquals(pagination, { total: 1, page: 1, limit: 20, pages: 1 });
    assertEquals(
      await get(`/api/settlements/${id}`),
      settlements[0],
      "one of them, as it is listed",
    );
    const stranger = await api.addMerchant();
    for (const [wanted, by] of [[id, stranger.key], ["stl_none", key]] as const) {
      const answer = await api.call("GET", `/api/settlements/${wanted}`, { key: by });
      assertEquals([answer.status, answer.body.code], [404, "not_found"]);
    }
    assertEquals((await get("/api/withdrawals")).withdrawals, []);
    const { transactions } = await get("/api/transactions?type=SETTLEMENT");
    assertEquals([transactions.length, transactions[0].amount], [1, "-12.5"]);
    assertEquals((await get("/api/balance?currency=USDT&network=TRX")).available, "87.5");
    assertEquals(await booksFaults(api.sql), []);
  },
);

shared("at the threshold a settlement waits; the merchant may take it back, once", async (api) => {
  const { key } = await settler(api, "20002");
  const body = { ...SETTLEMENT, requestedAmount: "10000" };
  const waiting = await api.call("POST", "/api/settlements", { key, body });
  assertEquals([waiting.status, waiting.body.status, waiting.body.message], [
    201,
    "APPROVAL_REQUIRED",
    "Settlement created and awaiting admin approval",
  ]);
  const below = await api.call("POST", "/api/settlements", {
    key,
    body: { ...body, requestedAmount: "9998" },
  });
  assertEquals(below.body.status, "PROCESSING");
  const cancel = (id: string, by = key) =>
    api.call("POST", `/api/settlements/${id}/cancel`, { key: by });
  const stranger = await api.addMerchant();
  assertEquals((await cancel(waiting.body.id, stranger.key)).status, 404);
  assertEquals((await cancel("stl_none")).status, 404);
  const cancelled = await cancel(waiting.body.id);
  const { message: _, ...shown } = waiting.body;
  const { history: [, , step] } = cancelled.body;
  assertEquals([cancelled.status, cancelled.body], [200, {
    ...shown,
    history: [...shown.history, { status: "CANCELLED", at: step.at }],
    status: "CANCELLED",
    reason: "Cancelled",
  }]);
  const again = await cancel(waiting.body.id);
  assertEquals([again.status, again.body.from, again.body.to], [409, "CANCELLED", "CANCELLED"]);
  const late = await cancel(below.body.id);
  assertEquals([late.status, late.body.from, late.body.to], [409, "PROCESSING", "CANCELLED"]);
  const list = async (status: string) =>
    (await api.call("GET", `/api/settlements?status=${status}`, { key })).body.settlements.length;
  assertEquals([await list("CANCELLED"), await list("PROCESSING"), await list("FAILED")], [
    1,
    1,
    0,
  ]);
  assertEquals(await booksFaults(api.sql), []);
});

test("the same Idempotency-Key gets the same answer, and 409 for another body", async () => {
  await using api = await testApi();
  const { key } = await settler(api, "20002");
  const headers = { "idempotency-key": "order 7" };
  const create = (change: object = {}) =>
    api.call("POST", "/api/settlements", { key, body: { ...SETTLEMENT, ...change }, headers });
  const first = await create({ requestedAmount: "10000" });
  assertEquals(first.status, 201);
  await api.call("POST", `/api/settlements/${first.body.id}/cancel`, { key });
  const repeated = await create({ requestedAmount: "10000.00" });
  assertEquals([repeated.status, repeated.body], [201, first.body]);
  const other = await create();
  assertEquals([other.status, other.body.error], [409, "Conflict"]);
  const bad = await api.call("POST", "/api/settlements", {
    key,
    body: SETTLEMENT,
    headers: { "idempotency-key": "x".repeat(256) },
  });
  assertEquals([bad.status, bad.body.details[0].path], [400, ["Idempotency-Key"]]);
  const [row] = await api.sql`SELECT count(*)::int AS n FROM book.settlement`;
  assertEquals(row?.n, 1);
});

test("an administrator's Idempotency-Key is not the account's own, whoever used it first", async () => {
  await using api = await testApi();
  const { id, key } = await settler(api, "1000");
  const admin = await api.addKey(null, { permissions: ["admin:write"] });
  const second = await api.addKey(null, { permissions: ["admin:write"] });
  const create = async (by: string, name: string) => {
    const { status, body } = await api.call("POST", "/api/settlements", {
      key: by,
      body: by === key ? SETTLEMENT : { ...SETTLEMENT, userId: id },
      headers: { "idempotency-key": name },
    });
    assertEquals(status, 201);
    return body;
  };
  for (const [first, other] of [[key, admin], [admin, key]] as const) {
    const name = first === key ? "mine first" : "theirs first";
    const [made, apart] = [await create(first, name), await create(other, name)];
    assertNotEquals(apart.id, made.id);
    assertNotEquals(apart.createdBy, made.createdBy);
    assertEquals(await create(first, name), made);
    assertEquals(await create(other, name), apart);
    assertEquals((await create(second, name)).id, first === admin ? made.id : apart.id);
  }
  const [row] = await api.sql`SELECT count(*)::int AS n FROM book.settlement`;
  assertEquals(row?.n, 4);
  assertEquals(await booksFaults(api.sql), []);
});

shared("only an administrator settles for another account", async (api) => {
  const { id, key } = await settler(api);
  const other = await api.addMerchant("100");
  const admin = await api.addKey(null, { permissions: ["admin:write"] });
  const reader = await api.addKey(null, { permissions: ["admin:read"] });
  const create = async (by: string, userId?: string) => {
    const { status, body } = await api.call("POST", "/api/settlements", {
      key: by,
      body: { ...SETTLEMENT, userId },
    });
    return [status, body.error ?? body.status];
  };
  assertEquals(await create(key, id), [201, "PROCESSING"]);
  assertEquals(await create(key, other.id), [403, "Insufficient permissions"]);
  assertEquals(await create(other.key, id), [403, "Insufficient permissions"]);
  assertEquals(await create(admin, id), [201, "PROCESSING"]);
  assertEquals(await create(admin), [400, "Invalid request data"]);
  assertEquals(await create(admin, newId("mer")), [404, "Not found"]);
  assertEquals(await create(reader, id), [403, "Insufficient permissions"]);
});

test("every refusal of a settlement has the status and the text of the interface", async (t) => {
  let liquidity = amount("1000");
  await using api = await testApi({ liquidity: () => liquidity });
  const { id, key, addressId } = await settler(api);
  const rows: readonly [string, object, number, object][] = [
    ["a disabled pair", { currency: "USDC" }, 400, {
      error: "Withdrawals of USDC on TRX are not supported",
      code: "withdrawals_not_supported",
    }],
    ["a network without a chain", { destinationNetwork: "ETH" }, 400, {
      error: "Withdrawals of USDT on ETH are not supported",
      code: "withdrawals_not_supported",
    }],
    ["zero", { requestedAmount: "0" }, 400, {
      error: "Withdrawal amount must be greater than zero",
      code: "amount_not_positive",
    }],
    ["below the minimum", { requestedAmount: "0.5" }, 400, {
      error: "Amount below minimum withdrawal",
      code: "below_minimum",
      minWithdrawal: "1",
      currency: "USDT",
      network: "TRX",
    }],
    ["not whitelisted", { destinationAddress: addressOf(5) }, 400, {
      error: "Destination address is not whitelisted for this merchant",
      code: "destination_not_whitelisted",
    }],
    ["whitelisted on another network", { destinationNetwork: "TRX_SHASTA" }, 400, {
      error: "Destination address is not whitelisted for this merchant",
      code: "destination_not_whitelisted",
    }],
  ];
  const create = (change: object, by = key) =>
    api.call("POST", "/api/settlements", { key: by, body: { ...SETTLEMENT, ...change } });
  for (const [name, change, status, expected] of rows) {
    await t.step(name, async () => {
      const answer = await create(change);
      assertEquals([answer.status, answer.body], [status, expected]);
    });
  }
  await t.step("insufficient balance", async () => {
    const { status, body } = await create({ requestedAmount: "98.000001" });
    assertEquals([status, body.error, body.available, body.requested], [
      400,
      "Insufficient balance",
      "100",
      "100.000001",
    ]);
    assertEquals(body.feeInfo.totalFees, "2");
  });
  for (
    const [change, path] of [
      [{ requestedAmount: "1.1234567" }, "requestedAmount"],
      [{ requestedAmount: 1 }, "requestedAmount"],
      [{ destinationAddress: "" }, "destinationAddress"],
      [{ destinationNetwork: "trx" }, "destinationNetwork"],
      [{ currency: "usdt" }, "currency"],
    ] as const
  ) {
    await t.step(`${path} malformed: ${JSON.stringify(change)}`, async () => {
      const { status, body } = await create(change);
      assertEquals([status, body.error, body.details[0].path], [400, "Invalid request data", [
        path,
      ]]);
    });
  }
  await t.step("a treasury that is short", async () => {
    liquidity = amount("5");
    const { status, body, headers } = await create({});
    assertEquals([status, body.error], [503, "Withdrawal temporarily unavailable"]);
    assert(headers.has("retry-after"));
    liquidity = amount("1000");
  });
  await t.step("keys that may not, whatever they send", async () => {
    const readOnly = await api.addKey(id, { permissions: ["read"] });
    const reseller = await api.addKey(id, { role: "RESELLER" });
    for (const by of [readOnly, reseller]) {
      const answer = await api.call("POST", "/api/settlements", { key: by, raw: "{" });
      assertEquals([answer.status, answer.body], [403, {
        error: "Insufficient permissions",
        code: "insufficient_permissions",
      }]);
    }
    assertEquals((await create({}, await api.addKey(id, { permissions: ["payout"] }))).status, 201);
  });
  await t.step("an address that was taken off the whitelist", async () => {
    const removed = await api.call("DELETE", `/api/settlement-addresses/${addressId}`, { key });
    assertEquals([removed.status, removed.body], [204, ""]);
    assertEquals((await create({})).status, 400);
  });
  await t.step("an account that is not active", async () => {
    await api.sql`UPDATE book.merchant SET status = 'SUSPENDED' WHERE merchant_id = ${id}`;
    const { status, body } = await create({}, await api.addKey(id));
    assertEquals([status, body], [403, {
      error: "Merchant account is not active",
      code: "merchant_not_active",
    }]);
  });
});

shared("an address is not active before an administrator says so", async (api) => {
  const { key, id } = await api.addMerchant("100");
  const added = await api.call("POST", "/api/settlement-addresses", {
    key,
    body: { address: SOMEWHERE, network: "TRX", label: " cold wallet " },
  });
  const { id: addressId, createdAt, ...rest } = added.body;
  assertMatch(addressId, /^adr_/);
  assertMatch(createdAt, /Z$/);
  assertEquals([added.status, rest], [201, {
    address: SOMEWHERE,
    network: "TRX",
    label: "cold wallet",
    active: false,
  }]);
  const create = () => api.call("POST", "/api/settlements", { key, body: SETTLEMENT });
  assertEquals(
    (await create()).body.error,
    "Destination address is not whitelisted for this merchant",
  );
  await activate(api, id, addressId);
  assertEquals((await create()).status, 201);
});

shared("the whitelist: listed, paged, removed, and no other merchant's", async (api) => {
  const { key } = await api.addMerchant();
  const stranger = await api.addMerchant();
  const add = (body: object, by = key) =>
    api.call("POST", "/api/settlement-addresses", { key: by, body });
  const entry = (n: number) => ({ address: addressOf(n), network: "TRX", label: `label ${n}` });
  const ids: string[] = [];
  for (const n of [1, 2, 3]) ids.push((await add(entry(n))).body.id);
  assertEquals((await add(entry(1))).status, 409);
  assertEquals((await add(entry(1), stranger.key)).status, 201);
  const list = async (query = "", by = key) =>
    (await api.call("GET", `/api/settlement-addresses${query}`, { key: by })).body;
  const { settlementAddresses, pagination } = await list("?limit=2");
  assertEquals(settlementAddresses.map(({ id }: { id: string }) => id), [ids[2], ids[1]]);
  assertEquals(pagination, { total: 3, page: 1, limit: 2, pages: 2 });
  assertEquals((await list("?page=2&limit=2")).settlementAddresses[0].id, ids[0]);
  const remove = (id = "", by = key) =>
    api.call("DELETE", `/api/settlement-addresses/${id}`, { key: by });
  assertEquals((await remove(ids[0], stranger.key)).status, 404);
  assertEquals((await remove(ids[0])).status, 204);
  assertEquals((await remove(ids[0])).status, 404);
  assertEquals((await list()).pagination.total, 2);
  const anew = await add(entry(1));
  assertEquals(anew.status, 201);
  assertNotEquals(anew.body.id, ids[0]);
});

shared("what is no address to settle to is refused", async (api, t) => {
  const { id, key } = await api.addMerchant();
  await api.sql`
    INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
    VALUES (${addressOf(77)}, 'TRX', ${id}, 'adr_own', 77)`;
  const entry = { address: SOMEWHERE, network: "TRX", label: "cold" };
  const faults: readonly [string, object, string][] = [
    ["not an address", { address: "x" }, "address"],
    ["the hot wallet", { address: HOT_WALLET }, "address"],
    ["a deposit address of its own", { address: addressOf(77) }, "address"],
    ["a network without a chain", { network: "ETH" }, "network"],
    ["an empty label", { label: " " }, "label"],
    ["a long label", { label: "x".repeat(101) }, "label"],
  ];
  for (const [name, change, path] of faults) {
    await t.step(name, async () => {
      const body = { ...entry, ...change };
      const answer = await api.call("POST", "/api/settlement-addresses", { key, body });
      assertEquals([answer.status, answer.body.error], [400, "Invalid request data"]);
      assertEquals(answer.body.details[0].path, [path]);
    });
  }
  await t.step("keys that may not", async () => {
    const readOnly = await api.addKey(id, { permissions: ["read"] });
    const reseller = await api.addKey(id, { role: "RESELLER" });
    for (const by of [readOnly, reseller]) {
      const answer = await api.call("POST", "/api/settlement-addresses", { key: by, body: entry });
      assertEquals(answer.status, 403);
    }
  });
});
