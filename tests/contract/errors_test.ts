import { assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import type { MerchantCommand, Merchants } from "../../actors/merchant/merchants.ts";
import { addressOf, testApi } from "../support/api.ts";
import { amount, booksFaults } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { pay } from "./support/chain.ts";
import {
  issueAddress,
  openReseller,
  openShop,
  PAYOUT,
  SETTLEMENT,
  type Shop,
  whitelist,
} from "./support/shop.ts";
import { suite } from "./support/suite.ts";

const test = testNeeding(DATABASE);
const rule = suite("Errors");

const FEES = {
  grossAmount: "102",
  netAmount: "100",
  totalFees: "2",
  feeBreakdown: {
    baseFee: "1",
    markupRate: "0",
    markupAmount: "0",
    networkFee: "1",
    totalFee: "2",
  },
};

/** Rows of "Specific errors" that a request alone provokes: endpoint, body, status, whole answer. */
const ROWS: readonly (readonly [string, string, unknown, number, unknown])[] = [
  [
    "network without an enabled pair",
    "/api/deposit-address",
    { network: "ETH", identifier: "a" },
    400,
    {
      error: "Deposits on ETH are not currently supported",
      code: "deposits_not_supported_on_network",
    },
  ],
  [
    "network without an enabled pair",
    "/api/deposit-url",
    { network: "tBNB", identifier: "a" },
    400,
    {
      error: "Deposits on tBNB are not currently supported",
      code: "deposits_not_supported_on_network",
    },
  ],
  [
    "disabled deposit pair",
    "/api/deposits",
    { amount: "1", currency: "USDC", network: "TRX", source: "bank" },
    400,
    { error: "Deposits of USDC on TRX are not supported", code: "deposits_not_supported" },
  ],
  ["disabled withdrawal pair", "/api/withdrawals", { ...PAYOUT, currency: "USDC" }, 400, {
    error: "Withdrawals of USDC on TRX are not supported",
    code: "withdrawals_not_supported",
  }],
  ["disabled withdrawal network", "/api/withdrawals", { ...PAYOUT, network: "SOL" }, 400, {
    error: "Withdrawals of USDT on SOL are not supported",
    code: "withdrawals_not_supported",
  }],
  ["disabled settlement pair", "/api/settlements", { ...SETTLEMENT, currency: "USDC" }, 400, {
    error: "Withdrawals of USDC on TRX are not supported",
    code: "withdrawals_not_supported",
  }],
  ["zero", "/api/withdrawals", { ...PAYOUT, amount: "0" }, 400, {
    error: "Withdrawal amount must be greater than zero",
    code: "amount_not_positive",
  }],
  ["negative", "/api/withdrawals", { ...PAYOUT, amount: "-0.5" }, 400, {
    error: "Withdrawal amount must be greater than zero",
    code: "amount_not_positive",
  }],
  ["below the minimum", "/api/withdrawals", { ...PAYOUT, amount: "0.5" }, 400, {
    error: "Amount below minimum withdrawal",
    code: "below_minimum",
    minWithdrawal: "1",
    currency: "USDT",
    network: "TRX",
  }],
  ["no balance row on that chain", "/api/withdrawals", { ...PAYOUT, network: "TRX_SHASTA" }, 400, {
    error: "No USDT balance on TRX_SHASTA for this account",
    code: "no_balance",
  }],
  [
    "balance does not cover amount and fees",
    "/api/withdrawals",
    { ...PAYOUT, amount: "100" },
    400,
    {
      error: "Insufficient balance",
      code: "insufficient_balance",
      available: "100",
      requested: "102",
      currency: "USDT",
      network: "TRX",
      feeInfo: FEES,
    },
  ],
  [
    "settlement that the balance does not cover",
    "/api/settlements",
    { ...SETTLEMENT, requestedAmount: "100" },
    400,
    {
      error: "Insufficient balance",
      code: "insufficient_balance",
      available: "100",
      requested: "102",
      currency: "USDT",
      network: "TRX",
      feeInfo: FEES,
    },
  ],
  [
    "settlement destination that is not whitelisted",
    "/api/settlements",
    { ...SETTLEMENT, destinationAddress: addressOf(99) },
    400,
    {
      error: "Destination address is not whitelisted for this merchant",
      code: "destination_not_whitelisted",
    },
  ],
];

test("Errors: each row a request alone can provoke has its status, text and fields", async (t) => {
  await using api = await testApi();
  const shop = await openShop(api, { funds: "100" });
  await whitelist(api, shop);
  for (const [name, path, body, status, expected] of ROWS) {
    await t.step(`${path}: ${name}`, async () => {
      const answer = await shop.post(path, body);
      assertEquals([answer.status, answer.body], [status, expected]);
    });
  }
  assertEquals(await shop.balance(), ["100", "0"]);
  assertEquals(await booksFaults(api.sql), []);
});

rule("funds on other networks are not used", async (api) => {
  const shop = await openShop(api, { funds: "1" });
  const { body: issued } = await shop.post("/api/deposit-address", {
    network: "TRX_SHASTA",
    identifier: "a",
  });
  await pay(api, shop.id, issued.address, "1000");
  const { status, body } = await shop.post("/api/withdrawals", PAYOUT);
  assertEquals([status, body.error, body.available], [400, "Insufficient balance", "1"]);
});

test("Errors: hosted status 400 `Token is required`, 404 `Invalid token`, 410 `Session expired`", async () => {
  let now = Date.now();
  await using api = await testApi({ clock: () => now });
  const shop = await openShop(api);
  const look = async (query: string) => {
    const { status, body } = await api.call("GET", `/api/deposit-page/status${query}`);
    return [status, body];
  };
  assertEquals(await look(""), [400, { error: "Token is required", code: "token_required" }]);
  assertEquals(await look("?token=nobody"), [404, {
    error: "Invalid token",
    code: "invalid_token",
  }]);
  const { body } = await shop.post("/api/deposit-url", { network: "TRX", identifier: "a" });
  assertEquals(await look(`?token=${body.sessionToken}`), [200, { status: "waiting" }]);
  now += 15 * 60_000;
  assertEquals(await look(`?token=${body.sessionToken}`), [410, {
    error: "Session expired",
    code: "session_expired",
  }]);
});

rule("a RESELLER key names another destination or network", async (api) => {
  const reseller = await openReseller(api, "100");
  for (const change of [{ destination: addressOf(98) }, { network: "TRX_SHASTA" }]) {
    const { status, body } = await reseller.post("/api/withdrawals", { ...PAYOUT, ...change });
    assertEquals([status, body], [400, {
      error: "Destination does not match the registered withdrawal address",
      code: "destination_not_registered",
    }]);
  }
  const settlement = await reseller.post("/api/settlements", SETTLEMENT);
  assertEquals([settlement.status, settlement.body.error], [403, "Insufficient permissions"]);
});

rule("401 and 403 have the contract's texts", async (api) => {
  const shop = await openShop(api, { funds: "100" });
  const none = await api.call("GET", "/api/balance");
  assertEquals([none.status, none.body], [401, {
    error: "Authentication required",
    code: "authentication_required",
  }]);
  const wrong = await api.call("GET", "/api/balance", { key: "sk_development_nobody" });
  assertEquals([wrong.status, wrong.body], [401, { error: "Unauthorized", code: "unauthorized" }]);
  const readOnly = await api.addKey(shop.id, { permissions: ["read"] });
  const post = (path: string, body: unknown) => api.call("POST", path, { key: readOnly, body });
  const withdrawal = await post("/api/withdrawals", PAYOUT);
  assertEquals([withdrawal.status, withdrawal.body], [403, {
    error: "Insufficient permissions to initiate a withdrawal",
    code: "withdrawal_forbidden",
  }]);
  const deposit = await post("/api/deposits", {});
  assertEquals([deposit.status, deposit.body], [403, {
    error: "Insufficient permissions",
    code: "insufficient_permissions",
  }]);
  const stranger = await openShop(api);
  const earnings = await shop.get(`/api/merchants/${stranger.id}/earnings`);
  assertEquals([earnings.status, earnings.body], [403, {
    error: "Insufficient permissions",
    code: "insufficient_permissions",
  }]);
});

rule("403 `Merchant account is not active` for withdrawals, addresses and URLs", async (api) => {
  for (const status of ["SUSPENDED", "INACTIVE"]) {
    const shop = await openShop(api, { funds: "100" });
    await whitelist(api, shop);
    const office = await api.addKey(null, { permissions: ["admin:write"] });
    const changed = await api.call("PATCH", `/api/merchants/${shop.id}`, {
      key: office,
      body: { status },
    });
    assertEquals(changed.status, 200);
    const requests: readonly [string, unknown][] = [
      ["/api/withdrawals", PAYOUT],
      ["/api/settlements", SETTLEMENT],
      ["/api/deposit-address", { network: "TRX", identifier: "a" }],
      ["/api/deposit-url", { network: "TRX", identifier: "a" }],
    ];
    for (const [path, body] of requests) {
      const answer = await shop.post(path, body);
      assertEquals([answer.status, answer.body], [403, {
        error: "Merchant account is not active",
        code: "merchant_not_active",
      }], path);
    }
    assertEquals((await shop.get("/api/balance")).status, 200, "reading goes on");
  }
});

rule(
  "409 `Duplicate referenceId` with a message, 409 `Deposit address already exists`",
  async (api) => {
    const shop = await openShop(api, { funds: "100" });
    const request = { ...PAYOUT, referenceId: "order-1" };
    const first = await shop.post("/api/withdrawals", request);
    const second = await shop.post("/api/withdrawals", { ...request, amount: "20" });
    assertEquals([second.status, second.body.error], [409, "Duplicate referenceId"]);
    assertEquals(typeof second.body.message, "string");
    assertEquals(second.body.withdrawalId, first.body.withdrawalId);
    await issueAddress(shop, "customer");
    const exists = await shop.post(
      "/api/deposit-address",
      { network: "TRX", identifier: "customer" },
      { "if-none-match": "*" },
    );
    assertEquals([exists.status, exists.body], [409, {
      error: "Deposit address already exists",
      code: "deposit_address_exists",
    }]);
  },
);

test("Errors: 503 `Withdrawal temporarily unavailable` creates nothing and keeps the referenceId free", async () => {
  let liquidity = amount("5");
  await using api = await testApi({ liquidity: () => liquidity });
  const shop = await openShop(api, { funds: "100" });
  const request = { ...PAYOUT, referenceId: "order-1" };
  const short = await shop.post("/api/withdrawals", request);
  assertEquals([short.status, short.body.error], [503, "Withdrawal temporarily unavailable"]);
  assertMatch(short.headers.get("retry-after") ?? "", /^\d+$/);
  assertEquals((await shop.get("/api/withdrawals")).body.withdrawals, []);
  assertEquals(await shop.balance(), ["100", "0"]);
  liquidity = amount("50");
  assertEquals((await shop.post("/api/withdrawals", request)).status, 201);
});

test("Errors: 500 `Payout initiation failed` returns the amount and releases the referenceId", async () => {
  let isOpen = false;
  await using api = await testApi({ payoutsOpen: () => isOpen });
  const shop = await openShop(api, { funds: "100" });
  const request = { ...PAYOUT, referenceId: "order-1" };
  const { status, body } = await shop.post("/api/withdrawals", request);
  assertEquals([status, body.error], [500, "Payout initiation failed"]);
  assertEquals(await shop.balance(), ["100", "0"]);
  assertEquals((await shop.newest("withdrawals")).status, "FAILED");
  isOpen = true;
  assertEquals((await shop.post("/api/withdrawals", request)).status, 201);
  assertEquals(await booksFaults(api.sql), []);
});

test("Errors: 500 and 503 of a request whose outcome is not known, or that found no room", async () => {
  let kind: "unknown" | "overloaded" | "held" | "withdrawn" | "failed" = "unknown";
  const merchantsOf = (journal: Merchants): Merchants => ({
    ask: <C extends MerchantCommand>(id: string, command: C, timeoutMs: number) =>
      command.type === "reserve" ? Promise.resolve({ kind }) : journal.ask(id, command, timeoutMs),
    wake: (id) => journal.wake(id),
  });
  await using api = await testApi({ merchantsOf });
  const shop = await openShop(api, { funds: "100" });
  const ask = async () => {
    const { status, body, headers } = await shop.post("/api/withdrawals", PAYOUT);
    return [status, body.error, headers.get("retry-after") !== null];
  };
  assertEquals(await ask(), [500, "Outcome unknown", false]);
  kind = "overloaded";
  assertEquals(await ask(), [503, "Service unavailable", true]);
  kind = "held";
  assertEquals(await ask(), [503, "Service unavailable", true]);
  kind = "withdrawn";
  assertEquals(await ask(), [503, "Service unavailable", true]);
  kind = "failed";
  assertEquals(await ask(), [500, "Internal error", false]);
});

/** A body of every creating endpoint that is right, to be spoilt field by field. */
const BODIES: readonly (readonly [string, Readonly<Record<string, unknown>>, readonly string[]])[] =
  [
    ["/api/deposit-address", { network: "TRX", identifier: "a" }, ["network", "identifier"]],
    ["/api/deposit-url", { network: "TRX", identifier: "a" }, ["network", "identifier"]],
    [
      "/api/deposits",
      { amount: "1", currency: "USDT", network: "TRX", source: "bank" },
      ["amount", "currency", "network", "source"],
    ],
    ["/api/withdrawals", PAYOUT, ["amount", "currency", "network", "destination"]],
    [
      "/api/settlements",
      SETTLEMENT,
      ["currency", "requestedAmount", "destinationAddress", "destinationNetwork"],
    ],
  ];

/** Bodies with a field that is not known, and the guard that it is taken for; null: it is ignored. */
const UNKNOWN: readonly (readonly [string, Readonly<Record<string, unknown>>, string | null])[] = [
  ["/api/withdrawals", { referenceID: "a" }, "referenceId"],
  ["/api/withdrawals", { refrenceId: "a" }, "referenceId"],
  ["/api/withdrawals", { refernceID: "a" }, "referenceId"],
  ["/api/withdrawals", { referneceId: "a" }, "referenceId"],
  ["/api/withdrawals", { reference: "a" }, "referenceId"],
  ["/api/withdrawals", { reference_id: "a" }, "referenceId"],
  ["/api/withdrawals", { "Reference-Id": "a" }, "referenceId"],
  ["/api/withdrawals", { referenceid: "a", referenceId: null }, "referenceId"],
  ["/api/withdrawals", { reference_id: "a", referenceId: "guarded" }, null],
  ["/api/withdrawals", { referenceNo: "a" }, "referenceId"],
  ["/api/withdrawals", { reference: "a note", referenceId: "noted" }, null],
  ["/api/withdrawals", { orderId: "a" }, "referenceId"],
  ["/api/withdrawals", { external_id: "a" }, "referenceId"],
  ["/api/withdrawals", { orderId: "a", referenceId: "ordered" }, null],
  ["/api/withdrawals", { preference_id: "b", webhookId: "c", foo: 1 }, null],
  ["/api/deposit-address", { ReferenceId: "a" }, "referenceId"],
  ["/api/deposit-url", { requested_amount: "1", requestedCurrency: "EUR" }, "requestedAmount"],
  ["/api/deposit-url", { requestedamount: "1", requestedcurrency: "EUR" }, "requestedAmount"],
  ["/api/deposit-url", { amount: "1", currency: "EUR" }, "requestedAmount"],
  ["/api/deposit-url", { price: "1", fiat: "EUR" }, "requestedAmount"],
  ["/api/deposit-url", { orderId: "a" }, "referenceId"],
  ["/api/deposit-url", { currency: "USDT", Token: "USDT" }, null],
  ["/api/deposits", { deposit_address_id: "adr_1" }, "depositAddressId"],
  ["/api/deposits", { Metadata: { txHash: "ab" } }, "metadata"],
];

rule(
  "a misspelt field that guards money is 400 and named, others are ignored",
  async (api) => {
    const shop = await openShop(api, { funds: "100" });
    const bodies = new Map(BODIES.map(([path, body]) => [path, body]));
    for (const [path, extra, guard] of UNKNOWN) {
      const before = (await shop.get("/api/withdrawals")).body.pagination.total;
      const { status, body } = await shop.post(path, { ...bodies.get(path), ...extra });
      if (guard === null) {
        assertEquals(status, 201, `${path} ${JSON.stringify(extra)}`);
        continue;
      }
      const name = Object.keys(extra)[0];
      assertEquals([status, body.error, body.code, body.details], [
        400,
        "Invalid request data",
        "invalid_request",
        [{
          path: [name],
          message:
            `There is no such field. Did you mean ${guard}? Send ${guard} as well, or leave this one out`,
          code: "unrecognized_keys",
        }],
      ]);
      assertEquals((await shop.get("/api/withdrawals")).body.pagination.total, before);
    }
    const key = { label: "till", permissions: ["read"] };
    const keys = `/api/merchants/${shop.id}/api-keys`;
    const refused = await shop.post(keys, { ...key, ip_allowlist: ["203.0.113.7"] });
    assertEquals([refused.status, refused.body.details?.[0]?.path], [400, ["ip_allowlist"]]);
    const before = (await shop.get("/api/withdrawals")).body.pagination.total;
    // a number of seconds is no moment, and a key of one request no reference of a payment
    for (
      const [path, body, advice] of [
        [keys, { ...key, expiresIn: 3600 }, /Send expiresAt, the moment of the end/],
        ["/api/withdrawals", { ...PAYOUT, idempotencyKey: "a" }, /takes referenceId for it/],
      ] as const
    ) {
      const answer = await shop.post(path, body);
      assertEquals([answer.status, answer.body.details.length], [400, 1]);
      assertMatch(answer.body.details[0].message, advice);
    }
    assertEquals((await shop.get("/api/withdrawals")).body.pagination.total, before);
  },
);

rule(
  "a payout that counts on the header Idempotency-Key is 400, as only its referenceId guards it",
  async (api) => {
    const shop = await openShop(api, { funds: "100" });
    const header = { "Idempotency-Key": "payout-1" };
    const refused = await shop.post("/api/withdrawals", PAYOUT, header);
    const [detail] = refused.body.details;
    assertEquals([refused.status, detail.path], [400, ["Idempotency-Key"]]);
    assertMatch(detail.message, /Send referenceId/);
    assertEquals((await shop.get("/api/withdrawals")).body.pagination.total, 0);
    const guarded = { ...PAYOUT, referenceId: "payout-1" };
    assertEquals((await shop.post("/api/withdrawals", guarded, header)).status, 201);
  },
);

rule(
  "a settlement that counts on a reference is 400 without the header Idempotency-Key, which alone guards it",
  async (api) => {
    const shop = await openShop(api, { funds: "100" });
    await whitelist(api, shop);
    const path = "/api/settlements";
    for (const field of ["referenceId", "reference_id", "orderId", "reference", "idempotencyKey"]) {
      const refused = await shop.post(path, { ...SETTLEMENT, [field]: "order-1" });
      assertEquals([refused.status, refused.body.details?.[0]?.path], [400, [field]]);
      assertMatch(refused.body.details[0].message, /Send the header Idempotency-Key/);
    }
    assertEquals((await shop.get(path)).body.pagination.total, 0);
    const noted = { ...SETTLEMENT, referenceId: "order-1", orderId: "order-1" };
    assertEquals((await shop.post(path, noted, { "Idempotency-Key": "order-1" })).status, 201);
    // null is no reference
    assertEquals((await shop.post(path, { ...SETTLEMENT, referenceId: null })).status, 201);
  },
);

rule(
  "a required field that was misspelt is 400 with the name that was sent instead",
  async (api) => {
    const shop = await openShop(api, { funds: "100" });
    for (const [path, body, required] of BODIES) {
      for (const field of required) {
        const { [field]: value, ...rest } = body;
        const slip = field.slice(0, -2) + field.slice(-1);
        const answer = await shop.post(path, { ...rest, [slip]: value, note: "other" });
        assertEquals([answer.status, answer.body.error], [400, "Invalid request data"], path);
        const [detail] = answer.body.details;
        // an amount of a settlement is a guard of its own, as it may be left out elsewhere
        const told = field === "requestedAmount"
          ? [[slip], "unrecognized_keys"]
          : [[field], detail.code];
        assertEquals([detail.path, detail.code], told, `${path} ${field}`);
        if (field !== "requestedAmount") {
          assertMatch(detail.message, new RegExp(`Is ${slip} meant`));
        }
      }
    }
    const { destination: _, ...rest } = PAYOUT;
    const unlike = await shop.post("/api/withdrawals", { ...rest, payTo: "x" });
    assertEquals(unlike.body.details[0].path, ["destination"]);
    assertNotMatch(unlike.body.details[0].message, /meant/);
  },
);

rule("a required field that is missing, null or of another type is 400 and named", async (api) => {
  const shop = await openShop(api, { funds: "100" });
  for (const [path, body, required] of BODIES) {
    for (const field of required) {
      for (const value of [undefined, null, 7, {}, [], true]) {
        const answer = await shop.post(path, { ...body, [field]: value });
        assertEquals([answer.status, answer.body.error], [400, "Invalid request data"], path);
        const [detail] = answer.body.details;
        assertEquals(detail.path, [field], `${path} ${field}`);
        assertEquals([typeof detail.message, typeof detail.code], ["string", "string"]);
      }
    }
  }
  const enums = await shop.post("/api/withdrawals", { ...PAYOUT, currency: "EUR", network: "BTC" });
  assertEquals(
    enums.body.details.map((
      detail: { path: string[]; code: string },
    ) => [detail.path, detail.code]),
    [[["currency"], "invalid_enum_value"], [["network"], "invalid_enum_value"]],
  );
});

rule("a body that is not JSON, too large, of another type, or hides characters", async (api) => {
  const shop = await openShop(api, { funds: "100" });
  const send = async (raw: string, headers: Record<string, string> = {}) => {
    const { status, body } = await api.call("POST", "/api/withdrawals", {
      key: shop.key,
      raw,
      headers,
    });
    return [status, body.error];
  };
  const invalid = [400, "Invalid request data"];
  assertEquals(await send("{"), invalid);
  assertEquals(await send(""), invalid);
  assertEquals(await send("[]"), invalid);
  assertEquals(await send('{"amount":"1","amount":"2"}'), invalid);
  const hidden = JSON.stringify({ ...PAYOUT, referenceId: "a\u0000" });
  assertEquals(await send(hidden), invalid);
  assertEquals(await send(JSON.stringify(PAYOUT).replace('"10"', '"10\\ud800"')), invalid);
  assertEquals(await send("x".repeat(65_537)), [413, "Request body too large"]);
  assertEquals(await send("{}", { "content-type": "text/plain" }), [415, "Unsupported media type"]);
  assertEquals((await api.call("GET", "/api/nothing")).status, 404);
  const method = await api.call("DELETE", "/api/balance", { key: shop.key });
  assertEquals([method.status, method.headers.get("allow")], [405, "GET, HEAD"]);
  assertEquals((await shop.get("/api/withdrawals")).body.pagination.total, 0);
});

rule(
  "422 where a rule over several fields refuses, 404 for another merchant's record",
  async (api) => {
    const [shop, stranger] = [await openShop(api, { funds: "100" }), await openShop(api)];
    const half = await shop.post("/api/deposit-url", {
      network: "TRX",
      identifier: "a",
      requestedAmount: "5",
    });
    assertEquals([half.status, half.body.error], [422, "Validation failed"]);
    for (const list of ["deposits", "transactions"]) {
      const reversed = await shop.get(`/api/${list}?startDate=2026-02-01&endDate=2026-01-31`);
      assertEquals([reversed.status, reversed.body.error], [422, "Validation failed"], list);
    }
    const reseller = await openReseller(api, "100");
    const { body } = await reseller.post("/api/withdrawals", PAYOUT);
    const cancel = (by: Shop) => by.post(`/api/withdrawals/${body.withdrawalId}/cancel`);
    assertEquals((await cancel(stranger)).status, 404);
    const redeliver = await stranger.post("/api/webhook-deliveries/evt_nobody/redeliver");
    assertEquals(redeliver.status, 404);
    assertEquals((await cancel(reseller)).status, 200);
  },
);
