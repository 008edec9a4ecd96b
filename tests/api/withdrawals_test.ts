import { assert, assertEquals, assertMatch } from "@std/assert";
import type { MerchantCommand, Merchants } from "../../actors/merchant/merchants.ts";
import { newId } from "../../actors/runtime/ids.ts";
import { addressOf, HOT_WALLET, type TestApi, testApi, testsOfOneApi } from "../support/api.ts";
import { amount, booksFaults, SOMEWHERE } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("withdrawals");

const PAYOUT = { amount: "10", currency: "USDT", network: "TRX", destination: SOMEWHERE };

shared(
  "a withdrawal is answered 201 with what it costs, and reserves exactly that",
  async (api) => {
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
  },
);

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
      { error: "Withdrawals of USDC on TRX are not supported", code: "withdrawals_not_supported" },
    ],
    [
      "network without a chain",
      { network: "ETH" },
      400,
      { error: "Withdrawals of USDT on ETH are not supported", code: "withdrawals_not_supported" },
    ],
    ["zero", { amount: "0" }, 400, {
      error: "Withdrawal amount must be greater than zero",
      code: "amount_not_positive",
    }],
    ["zero with decimals", { amount: "0.00" }, 400, {
      error: "Withdrawal amount must be greater than zero",
      code: "amount_not_positive",
    }],
    ["negative", { amount: "-1" }, 400, {
      error: "Withdrawal amount must be greater than zero",
      code: "amount_not_positive",
    }],
    ["negative before a bad destination", { amount: "-1", destination: "x" }, 400, {
      error: "Withdrawal amount must be greater than zero",
      code: "amount_not_positive",
    }],
    ["below minimum", { amount: "0.999999" }, 400, {
      error: "Amount below minimum withdrawal",
      code: "below_minimum",
      minWithdrawal: "1",
      currency: "USDT",
      network: "TRX",
    }],
    ["no balance row", { network: "TRX_SHASTA" }, 400, {
      error: "No USDT balance on TRX_SHASTA for this account",
      code: "no_balance",
    }],
    ["insufficient", { amount: "98.000001" }, 400, {
      error: "Insufficient balance",
      code: "insufficient_balance",
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
    assertEquals(answer.body, {
      error: "Insufficient permissions to initiate a withdrawal",
      code: "withdrawal_forbidden",
    });
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

shared("an account that is not active is told so before its body is looked at", async (api) => {
  const { id, key } = await api.addMerchant("100");
  await api.sql`UPDATE book.merchant SET status = 'SUSPENDED' WHERE merchant_id = ${id}`;
  for (const path of ["/api/withdrawals", "/api/deposit-address"]) {
    const answer = await api.call("POST", path, { key, raw: "not json" });
    assertEquals(answer.status, 403);
    assertEquals(answer.body, {
      error: "Merchant account is not active",
      code: "merchant_not_active",
    });
  }
  assertEquals((await api.call("GET", "/api/withdrawals", { key })).status, 200);
});

shared(
  "of concurrent requests with one referenceId one is 201 and the others 409 name it",
  async (api) => {
    const { key } = await api.addMerchant("1000");
    const answers = await Promise.all(
      Array.from(
        { length: 20 },
        () =>
          api.call("POST", "/api/withdrawals", { key, body: { ...PAYOUT, referenceId: "same" } }),
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
  },
);

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
    ["held", 503, "Service unavailable"],
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

shared(
  "a withdrawal whose connection was ended before it was read to its end is not made",
  async (api) => {
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
  },
);

/** A reseller with money whose withdrawals go to {@linkcode SOMEWHERE}. */
async function reseller(api: TestApi) {
  const { id } = await api.addMerchant("100");
  await api.sql`
    INSERT INTO hub.reseller (id, merchant_id, name, withdrawal_address, network)
    VALUES (${newId("rsl")}, ${id}, 'Line', ${SOMEWHERE}, 'TRX')`;
  return { id, key: await api.addKey(id, { role: "RESELLER", permissions: ["read", "payout"] }) };
}

test("a payout that nobody can sign is refunded before the answer, its reference free again", async () => {
  let open = false;
  await using api = await testApi({ payoutsOpen: () => open });
  const { key } = await api.addMerchant("100");
  const body = { ...PAYOUT, referenceId: "order 1" };
  const failed = await api.call("POST", "/api/withdrawals", { key, body });
  assertEquals([failed.status, failed.body.error], [500, "Payout initiation failed"]);
  const get = async (path: string) => (await api.call("GET", path, { key })).body;
  const [row] = (await get("/api/withdrawals")).withdrawals;
  assertEquals([row.id, row.status], [failed.body.withdrawalId, "FAILED"]);
  assertEquals((await get("/api/balance?currency=USDT&network=TRX")).available, "100");
  const [event] = await api
    .sql`SELECT type, payload FROM book.outbox WHERE type LIKE 'withdrawal%'`;
  assertEquals(event?.type, "withdrawal.failed");
  assertEquals(JSON.parse(event?.payload).reason, "Payout initiation failed");
  assertEquals(await booksFaults(api.sql), []);
  open = true;
  assertEquals((await api.call("POST", "/api/withdrawals", { key, body })).status, 201);
});

test("a settlement that nobody can sign is made and refunded in one commit, and its key is free again", async () => {
  let open = false;
  await using api = await testApi({ payoutsOpen: () => open });
  const { id, key } = await api.addMerchant("20002");
  // a share of the fees that was credited at once is taken back as well
  await api.sql`
    UPDATE book.merchant SET margin_rate = 0.5, margin_beneficiary = merchant_id`;
  await api.sql`
    INSERT INTO book.settlement_address (id, merchant_id, network, address, label, active, created_at)
    VALUES ('adr_1', ${id}, 'TRX', ${SOMEWHERE}, 'own', true, now())`;
  const settle = (requestedAmount: string) =>
    api.call("POST", "/api/settlements", {
      key,
      headers: { "idempotency-key": "order 1" },
      body: {
        currency: "USDT",
        requestedAmount,
        destinationAddress: SOMEWHERE,
        destinationNetwork: "TRX",
      },
    });
  const get = async (path: string) => (await api.call("GET", path, { key })).body;
  const failed = await settle("10");
  assertEquals([failed.status, failed.body.error], [500, "Payout initiation failed"]);
  const [row, ...others] = (await get("/api/settlements")).settlements;
  assertEquals(others, []);
  assertEquals([row.id, row.status, row.reason], [
    failed.body.settlementId,
    "FAILED",
    "Payout initiation failed",
  ]);
  assertEquals(row.history.map(({ status }: { readonly status: string }) => status), [
    "PENDING",
    "PROCESSING",
    "FAILED",
  ]);
  const [written] = await api.sql`
    SELECT w.status, o.status AS payout, s.xmin = w.xmin AND w.xmin = o.xmin AND o.xmin = ALL (
      SELECT e.xmin FROM book.entry e WHERE e.payment_id = w.id) AS together
    FROM book.settlement s JOIN book.withdrawal w ON w.id = s.withdrawal_id
    JOIN book.outgoing o ON o.id = w.outgoing_id`;
  assertEquals(written, { status: "FAILED", payout: "void", together: true });
  assertEquals((await get("/api/balance?currency=USDT&network=TRX")).available, "20002");
  const [line] = (await get("/api/transactions?type=SETTLEMENT")).transactions;
  assertEquals([line.status, line.amount], ["FAILED", "0"]);
  const { totals } = await get(`/api/merchants/${id}/charges`);
  const sums = new Map(
    totals.map((one: { type: string; amount: string }) => [one.type, one.amount]),
  );
  assertEquals(Object.fromEntries(sums), {
    WITHDRAWAL_COMMISSION: "1",
    NETWORK_FEE: "1",
    REVERSAL: "-2",
  });
  assertEquals(await booksFaults(api.sql), []);
  // what waits for an administrator is not handed over yet
  const waiting = await settle("10000");
  assertEquals([waiting.status, waiting.body.status], [201, "APPROVAL_REQUIRED"]);
  const again = await settle("10000");
  assertEquals(again.body, waiting.body, "a settlement that goes on keeps its key");
  open = true;
  assertEquals((await settle("10")).status, 409, "the key is the waiting one's");
  assertEquals(await booksFaults(api.sql), []);
});

test("a payout that cannot be signed is given up in the commit that makes it, and never queued", async () => {
  const asked: MerchantCommand["type"][] = [];
  let isOpen = true;
  await using api = await testApi({
    payoutsOpen: () => isOpen,
    merchantsOf: (journal) => ({
      wake: (merchantId) => journal.wake(merchantId),
      ask: (merchantId, command, timeoutMs) => {
        asked.push(command.type);
        return journal.ask(merchantId, command, timeoutMs);
      },
    }),
  });
  const { key } = await api.addMerchant("100");
  const post = (referenceId: string) =>
    api.call("POST", "/api/withdrawals", { key, body: { ...PAYOUT, referenceId } });
  const living = await post("order 1");
  isOpen = false;
  const batches = api.journal.figures.batches;
  const failed = await post("order 2");
  assertEquals([failed.status, failed.body.error], [500, "Payout initiation failed"]);
  assertEquals([asked, api.journal.figures.batches - batches], [["reserve", "reserve"], 1]);
  const [row] = await api.sql`
    SELECT o.status, o.reason FROM book.outgoing o JOIN book.withdrawal w ON w.outgoing_id = o.id
    WHERE w.id = ${failed.body.withdrawalId}`;
  assertEquals([row?.["status"], row?.["reason"]], ["void", "Payout initiation failed"]);
  // the reference of a living withdrawal stays taken
  const taken = await post("order 1");
  assertEquals([taken.status, taken.body.withdrawalId], [409, living.body.withdrawalId]);
  assertEquals(await booksFaults(api.sql), []);
});

test("a withdrawal that waits for approval is cancelled by its merchant, once", async () => {
  await using api = await testApi({ payoutsOpen: () => false });
  const { key } = await reseller(api);
  const body = { ...PAYOUT, referenceId: "r" };
  const waiting = await api.call("POST", "/api/withdrawals", { key, body });
  assertEquals([waiting.status, waiting.body.status], [201, "PENDING_APPROVAL"]);
  const { withdrawalId } = waiting.body;
  const cancel = (by: string, id = withdrawalId) =>
    api.call("POST", `/api/withdrawals/${id}/cancel`, { key: by });
  const stranger = await api.addMerchant();
  assertEquals((await cancel(stranger.key)).status, 404);
  assertEquals((await cancel(key, "wd_none")).status, 404);
  const cancelled = await cancel(key);
  const { message, ...rest } = cancelled.body;
  assert(message.length > 0);
  assertEquals([cancelled.status, rest], [200, {
    success: true,
    withdrawalId,
    status: "CANCELLED",
  }]);
  const again = await cancel(key);
  assertEquals([again.status, again.body.from, again.body.to], [409, "CANCELLED", "CANCELLED"]);
  const [event] = await api
    .sql`SELECT type, payload FROM book.outbox WHERE type LIKE 'withdrawal%'`;
  assertEquals([event?.type, JSON.parse(event?.payload).reason], [
    "withdrawal.failed",
    "Cancelled",
  ]);
  assertEquals((await api.call("POST", "/api/withdrawals", { key, body })).status, 201);
  assertEquals(await booksFaults(api.sql), []);
});

test("a withdrawal that is under way, or a settlement's, cannot be cancelled", async () => {
  await using api = await testApi();
  const { id, key } = await api.addMerchant("100");
  const { body } = await api.call("POST", "/api/withdrawals", { key, body: PAYOUT });
  const cancel = (by: string, withdrawalId: string) =>
    api.call("POST", `/api/withdrawals/${withdrawalId}/cancel`, { key: by });
  const late = await cancel(key, body.withdrawalId);
  assertEquals([late.status, late.body.from, late.body.to], [409, "PENDING", "CANCELLED"]);
  const readOnly = await api.addKey(id, { permissions: ["read"] });
  assertEquals((await cancel(readOnly, body.withdrawalId)).status, 403);
});
