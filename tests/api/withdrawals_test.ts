import { assert, assertEquals, assertMatch } from "@std/assert";
import type { MerchantCommand, Merchants } from "../../actors/merchant/merchants.ts";
import { addressOf, HOT_WALLET, testApi } from "../support/api.ts";
import { amount, booksFaults, SOMEWHERE } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const PAYOUT = { amount: "10", currency: "USDT", network: "TRX", destination: SOMEWHERE };

test("a withdrawal is answered 201 with what it costs, and reserves exactly that", async () => {
  await using api = await testApi();
  const { key } = await api.addMerchant("100");
  const { status, body, headers } = await api.call("POST", "/api/withdrawals", {
    key,
    body: { ...PAYOUT, amount: "10.50", referenceId: "order 1", description: "first" },
  });
  assertEquals(status, 201);
  assertMatch(headers.get("x-request-id") ?? "", /^req_[0-9a-f]{32}$/);
  assertMatch(body.withdrawalId, /^wd_/);
  const { withdrawalId, message, ...rest } = body;
  assert(message.length > 0);
  assertEquals(rest, {
    success: true,
    status: "PENDING",
    amount: "10.5",
    currency: "USDT",
    network: "TRX",
    destination: SOMEWHERE,
    feeInfo: {
      grossAmount: "12.5",
      netAmount: "10.5",
      totalFees: "2",
      feeBreakdown: {
        baseFee: "1",
        markupRate: "0",
        markupAmount: "0",
        networkFee: "1",
        totalFee: "2",
      },
    },
  });
  const list = await api.call("GET", "/api/withdrawals", { key });
  assertEquals(list.status, 200);
  assertEquals(list.body.pagination, { total: 1, page: 1, limit: 10, pages: 1 });
  const { createdAt, createdBy, ...row } = list.body.withdrawals[0];
  assertMatch(createdBy, /^key_/);
  assertMatch(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assertEquals(row, {
    id: withdrawalId,
    amount: "10.5",
    currency: "USDT",
    network: "TRX",
    status: "PENDING",
    destination: SOMEWHERE,
    referenceId: "order 1",
    description: "first",
    txHash: null,
    processedAt: null,
    fee: "1",
    commission: "1",
    commissionRate: "0",
  });
  const balance = await api.call("GET", "/api/balance?currency=USDT&network=TRX", { key });
  assertEquals(balance.body.available, "87.5");
  assertEquals(await booksFaults(api.sql), []);
});

test("every refusal of a withdrawal has the status and the text of the interface", async (t) => {
  await using api = await testApi();
  const { id, key } = await api.addMerchant("100");
  await api.sql`
    INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
    VALUES (${addressOf(77)}, 'TRX', ${id}, 'adr_own', 77)`;
  const readOnly = await api.addKey(id, { permissions: ["read"] });
  const payoutOnly = await api.addKey(id, { permissions: ["payout"] });

  const rows: readonly [string, object, number, object][] = [
    [
      "disabled pair",
      { currency: "USDC" },
      400,
      { error: "Withdrawals of USDC on TRX are not supported" },
    ],
    [
      "network without a chain",
      { network: "ETH" },
      400,
      { error: "Withdrawals of USDT on ETH are not supported" },
    ],
    ["zero", { amount: "0" }, 400, { error: "Withdrawal amount must be greater than zero" }],
    ["zero with decimals", { amount: "0.00" }, 400, {
      error: "Withdrawal amount must be greater than zero",
    }],
    ["negative", { amount: "-1" }, 400, { error: "Withdrawal amount must be greater than zero" }],
    ["negative before a bad destination", { amount: "-1", destination: "x" }, 400, {
      error: "Withdrawal amount must be greater than zero",
    }],
    ["below minimum", { amount: "0.999999" }, 400, {
      error: "Amount below minimum withdrawal",
      minWithdrawal: "1",
      currency: "USDT",
      network: "TRX",
    }],
    ["no balance row", { network: "TRX_SHASTA" }, 400, {
      error: "No USDT balance on TRX_SHASTA for this account",
    }],
    ["insufficient", { amount: "98.000001" }, 400, {
      error: "Insufficient balance",
      available: "100",
      requested: "100.000001",
      currency: "USDT",
      network: "TRX",
      feeInfo: {
        grossAmount: "100.000001",
        netAmount: "98.000001",
        totalFees: "2",
        feeBreakdown: {
          baseFee: "1",
          markupRate: "0",
          markupAmount: "0",
          networkFee: "1",
          totalFee: "2",
        },
      },
    }],
  ];
  for (const [name, change, status, expected] of rows) {
    await t.step(name, async () => {
      const answer = await api.call("POST", "/api/withdrawals", {
        key,
        body: { ...PAYOUT, ...change },
      });
      assertEquals(answer.body, expected);
      assertEquals(answer.status, status);
    });
  }
  const faults: readonly [string, object, string][] = [
    ["too many decimals for the token", { amount: "1.1234567" }, "amount"],
    ["not an address", { destination: "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdX" }, "destination"],
    ["another network's address", {
      destination: "0x52908400098527886E0F7030069857D2E4169EE7",
    }, "destination"],
    ["the hot wallet", { destination: HOT_WALLET }, "destination"],
    ["a deposit address of its own", { destination: addressOf(77) }, "destination"],
    ["exponent", { amount: "1e3" }, "amount"],
    ["19 decimals", { amount: "0.0000000000000000001" }, "amount"],
    ["21 integer digits", { amount: "1" + "0".repeat(30) }, "amount"],
    ["JSON number", { amount: 10 }, "amount"],
    ["spaces", { amount: " 10" }, "amount"],
    ["other digits", { amount: "١٠" }, "amount"],
    ["bare point", { amount: "10." }, "amount"],
    ["plus", { amount: "+10" }, "amount"],
    ["hexadecimal", { amount: "0x10" }, "amount"],
    ["empty", { amount: "" }, "amount"],
    ["unknown currency", { currency: "EUR" }, "currency"],
    ["unknown network", { network: "trx" }, "network"],
    ["missing destination", { destination: undefined }, "destination"],
    ["empty referenceId", { referenceId: "" }, "referenceId"],
    ["long referenceId", { referenceId: "r".repeat(129) }, "referenceId"],
    ["control character in referenceId", { referenceId: "a\nb" }, "referenceId"],
    ["wrong type of referenceId", { referenceId: 7 }, "referenceId"],
    ["wrong type of description", { description: ["x"] }, "description"],
  ];
  for (const [name, change, path] of faults) {
    await t.step(name, async () => {
      const answer = await api.call("POST", "/api/withdrawals", {
        key,
        body: { ...PAYOUT, ...change },
      });
      assertEquals(answer.status, 400);
      assertEquals(answer.body.error, "Invalid request data");
      assertEquals(answer.body.details.length, 1);
      assertEquals(answer.body.details[0].path, [path]);
      assertEquals(Object.keys(answer.body.details[0]), ["path", "message", "code"]);
    });
  }
  await t.step("an unknown currency has the code of the interface", async () => {
    const answer = await api.call("POST", "/api/withdrawals", {
      key,
      body: { ...PAYOUT, currency: "EUR" },
    });
    assertEquals(answer.body.details[0].code, "invalid_enum_value");
  });
  await t.step("a read-only key comes before everything else", async () => {
    const answer = await api.call("POST", "/api/withdrawals", { key: readOnly, raw: "{" });
    assertEquals(answer.status, 403);
    assertEquals(answer.body, { error: "Insufficient permissions to initiate a withdrawal" });
  });
  await t.step("the payout permission suffices", async () => {
    const answer = await api.call("POST", "/api/withdrawals", { key: payoutOnly, body: PAYOUT });
    assertEquals(answer.status, 201);
  });
  await t.step("nothing but the accepted one was written", async () => {
    const [row] = await api.sql`SELECT count(*)::int AS n FROM book.withdrawal`;
    assertEquals(row?.n, 1);
    assertEquals(await booksFaults(api.sql), []);
  });
});

test("an account that is not active is told so before its body is looked at", async () => {
  await using api = await testApi();
  const { id, key } = await api.addMerchant("100");
  await api.sql`UPDATE book.merchant SET status = 'SUSPENDED' WHERE merchant_id = ${id}`;
  for (const path of ["/api/withdrawals", "/api/deposit-address"]) {
    const answer = await api.call("POST", path, { key, raw: "not json" });
    assertEquals(answer.status, 403);
    assertEquals(answer.body, { error: "Merchant account is not active" });
  }
  assertEquals((await api.call("GET", "/api/withdrawals", { key })).status, 200);
});

test("of concurrent requests with one referenceId one is 201 and the others 409 name it", async () => {
  await using api = await testApi();
  const { key } = await api.addMerchant("1000");
  const answers = await Promise.all(
    Array.from(
      { length: 20 },
      () => api.call("POST", "/api/withdrawals", { key, body: { ...PAYOUT, referenceId: "same" } }),
    ),
  );
  const [accepted, ...more] = answers.filter(({ status }) => status === 201);
  assertEquals(more.length, 0);
  for (const answer of answers.filter((one) => one !== accepted)) {
    assertEquals(answer.status, 409);
    assertEquals(answer.body.error, "Duplicate referenceId");
    assertEquals(typeof answer.body.message, "string");
    assertEquals(answer.body.withdrawalId, accepted?.body.withdrawalId);
  }
});

test("a treasury that is short answers 503 and leaves the reference free", async () => {
  let liquidity = amount("5");
  await using api = await testApi({ liquidity: () => liquidity });
  const { key } = await api.addMerchant("100");
  const body = { ...PAYOUT, referenceId: "later" };
  const short = await api.call("POST", "/api/withdrawals", { key, body });
  assertEquals(short.status, 503);
  assertEquals(short.body.error, "Withdrawal temporarily unavailable");
  assert(Number(short.headers.get("retry-after")) > 0);
  liquidity = amount("50");
  assertEquals((await api.call("POST", "/api/withdrawals", { key, body })).status, 201);
});

test("what becomes of an ask decides the status", async (t) => {
  const outcomes = [
    ["overloaded", 503, "Service unavailable"],
    ["withdrawn", 503, "Service unavailable"],
    ["unknown", 500, "Outcome unknown"],
    ["failed", 500, "Internal error"],
  ] as const;
  let kind: (typeof outcomes)[number][0] = "overloaded";
  let asked: MerchantCommand | null = null;
  const merchants: Merchants = {
    ask: (_merchantId, command) => {
      asked = command;
      return Promise.resolve({ kind });
    },
    wake: () => {},
  };
  await using api = await testApi({ merchantsOf: () => merchants });
  const { key } = await api.addMerchant();
  for (const [outcome, status, error] of outcomes) {
    await t.step(outcome, async () => {
      kind = outcome;
      const answer = await api.call("POST", "/api/withdrawals", { key, body: PAYOUT });
      assertEquals(answer.status, status);
      assertEquals(answer.body.error, error);
      assertEquals(answer.headers.has("retry-after"), status === 503);
      if (outcome === "unknown") {
        assert(asked?.type === "reserve");
        assertEquals(answer.body.withdrawalId, asked.withdrawalId);
        assertEquals(typeof answer.body.message, "string");
      }
    });
  }
});

test("a withdrawal whose connection was ended before it was read to its end is not made", async () => {
  await using api = await testApi();
  const { key } = await api.addMerchant("100");
  const ask = async (bodyRead: () => boolean) => {
    const answer = await api.answer(
      new Request(`${api.url}/api/withdrawals`, {
        method: "POST",
        headers: { host: "localhost", authorization: key, "content-type": "application/json" },
        body: JSON.stringify({ ...PAYOUT, referenceId: "asked twice" }),
      }),
      { remoteAddr: { transport: "tcp", hostname: "127.0.0.1" }, bodyRead },
    );
    return [answer.status, (await answer.json()).success === true];
  };
  assertEquals(await ask(() => false), [503, false]);
  // its library asks again over another connection, and hears of no duplicate
  assertEquals(await ask(() => true), [201, true]);
});
