import { assertEquals } from "@std/assert";
import { testApi, testsOfOneApi } from "../support/api.ts";
import { addTransfer, booksFaults, SOMEWHERE, until } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("admin settings");
const ADMIN = { permissions: ["admin:read", "admin:write"] };

function notExact(field: string) {
  const message = "The amount may have 6 decimal places on this network";
  return { path: [field], message, code: "not_exact" };
}

shared("fee settings are read, set and tried out; the next withdrawal pays them", async (api) => {
  const admin = await api.addKey(null, ADMIN);
  const { key } = await api.addMerchant("1000");
  const path = "/api/admin/withdrawal-fees";
  const read = await api.call("GET", path, { key: admin });
  assertEquals(read.body, { baseFee: "1", markupRate: "0", enabled: true });
  const set = await api.call("POST", path, {
    key: admin,
    body: { baseFee: "0.5", markupRate: "0.01" },
  });
  assertEquals([set.status, set.body], [200, {
    baseFee: "0.5",
    markupRate: "0.01",
    enabled: true,
  }]);
  const tried = await api.call("PUT", path, {
    key: admin,
    body: { amount: "100", currency: "USDT" },
  });
  assertEquals(tried.body.feeInfo.feeBreakdown, {
    baseFee: "0.5",
    markupRate: "0.01",
    markupAmount: "1",
    networkFee: "1",
    totalFee: "2.5",
  });
  const made = await api.call("POST", "/api/withdrawals", {
    key,
    body: { amount: "100", currency: "USDT", network: "TRX", destination: SOMEWHERE },
  });
  assertEquals(made.body.feeInfo, tried.body.feeInfo);
  await api.call("POST", path, { key: admin, body: { enabled: false } });
  const free = await api.call("PUT", path, {
    key: admin,
    body: { amount: "100", currency: "USDT", network: "TRX" },
  });
  assertEquals(free.body.feeInfo.totalFees, "1");
  for (
    const body of [{}, { baseFee: "-1" }, { markupRate: "2" }, { enabled: "no" }, { fee: "1" }]
  ) {
    assertEquals((await api.call("POST", path, { key: admin, body })).status, 400);
  }
  for (
    const body of [{ amount: "0", currency: "USDT" }, { amount: "1.1234567", currency: "USDT" }]
  ) {
    assertEquals((await api.call("PUT", path, { key: admin, body })).status, 400);
  }
  const inexact = { amount: "1.1234567", currency: "USDT", network: "TRX" };
  const refusal = await api.call("PUT", path, { key: admin, body: inexact });
  assertEquals([refusal.status, refusal.body.details], [400, [notExact("amount")]]);
  assertEquals((await api.call("POST", path, { key, body: { enabled: true } })).status, 403);
  const trail = await api.call("GET", "/api/admin/audit?action=withdrawal-fees.set", {
    key: admin,
  });
  assertEquals(trail.body.pagination.total, 2);
  assertEquals(trail.body.audit[1].before, { baseFee: "1", markupRate: "0", enabled: true });
});

shared(
  "a transfer of a disabled pair is quarantined, shown, and credited when the pair is enabled",
  async (api) => {
    const admin = await api.addKey(null, ADMIN);
    const { id, key } = await api.addMerchant();
    const path = "/api/admin/pairs";
    const off = await api.call("PUT", path, {
      key: admin,
      body: { currency: "USDT", network: "TRX", depositsEnabled: false },
    });
    assertEquals([off.status, off.body.depositsEnabled, off.body.withdrawalsEnabled], [
      200,
      false,
      true,
    ]);
    await addTransfer(api.sql, id, "50", { phase: "seen" });
    const txid = await addTransfer(api.sql, id, "50");
    api.journal.wake(id);
    const pair = async () => {
      const { body } = await api.call("GET", path, { key: admin });
      return body.pairs.find((row: { currency: string; network: string }) =>
        row.currency === "USDT" && row.network === "TRX"
      );
    };
    await until(async () => (await pair()).unclaimed === 2);
    const on = await api.call("PUT", path, {
      key: admin,
      body: { currency: "USDT", network: "TRX", depositsEnabled: true },
    });
    assertEquals(on.body.depositsEnabled, true);
    await until(async () => {
      const { body } = await api.call("GET", "/api/balance?currency=USDT&network=TRX", { key });
      return body.available !== "0";
    });
    const deposits = await api.sql`SELECT status FROM book.deposit WHERE txid = ${txid}`;
    assertEquals(deposits.map((row) => row.status), ["CONFIRMED"]);
    assertEquals((await pair()).unclaimed, 0);
    assertEquals(await booksFaults(api.sql), []);
  },
);

shared(
  "a pair's terms hold for the next withdrawal, and make no sense are refused",
  async (api) => {
    const admin = await api.addKey(null, ADMIN);
    const { key } = await api.addMerchant("100");
    const put = (body: object) =>
      api.call("PUT", "/api/admin/pairs", {
        key: admin,
        body: { currency: "USDT", network: "TRX", ...body },
      });
    for (
      const body of [
        { minWithdrawal: "0" },
        { minWithdrawal: "1.1234567" },
        { networkFee: "-1" },
        { networkFee: "0.0000001" },
        { network: "BTC" },
        { extra: true },
      ]
    ) assertEquals((await put(body)).status, 400);
    const { details } = (await put({ networkFee: "0.0000001" })).body;
    assertEquals(details, [notExact("networkFee")]);
    assertEquals((await put({ minWithdrawal: "5", networkFee: "2" })).status, 200);
    const withdraw = (amount: string) =>
      api.call("POST", "/api/withdrawals", {
        key,
        body: { amount, currency: "USDT", network: "TRX", destination: SOMEWHERE },
      });
    const small = await withdraw("4");
    assertEquals([small.status, small.body.minWithdrawal], [400, "5"]);
    const made = await withdraw("5");
    assertEquals(made.body.feeInfo.feeBreakdown.networkFee, "2");
    assertEquals((await put({ withdrawalsEnabled: false })).status, 200);
    assertEquals((await withdraw("5")).body.error, "Withdrawals of USDT on TRX are not supported");
    assertEquals((await api.call("PUT", "/api/admin/pairs", { key, body: {} })).status, 403);
  },
);

shared(
  "a pair is not enabled where its network is not served, or has no contract of its currency",
  async (api) => {
    const admin = await api.addKey(null, ADMIN);
    const put = (body: object) => api.call("PUT", "/api/admin/pairs", { key: admin, body });
    const closed = [
      [{ currency: "USDC", network: "TRX" }, "TRX has no contract of USDC configured here."],
      [
        { currency: "USDT", network: "ETH" },
        "ETH is not served here: it needs a node (ETH_NODE_URLS, in development DEV_CHAINS), an account of the wallet, and a restart.",
      ],
    ] as const;
    const enabled = () =>
      api.sql`SELECT currency, network FROM book.pair WHERE deposits_enabled OR withdrawals_enabled`
        .then((rows) => rows.map(({ currency, network }) => `${currency}/${network}`).sort());
    const before = await enabled();
    for (const [pair, message] of closed) {
      for (const side of ["depositsEnabled", "withdrawalsEnabled"]) {
        const refused = await put({ ...pair, [side]: true });
        assertEquals([refused.status, refused.body], [409, {
          error: "Conflict",
          code: "pair_not_served",
          message,
        }]);
      }
      // its terms may be prepared, and it may be disabled
      const prepared = await put({ ...pair, networkFee: "2", withdrawalsEnabled: false });
      assertEquals([prepared.status, prepared.body.connected], [200, false]);
    }
    assertEquals(await enabled(), before);
    assertEquals(
      (await put({ currency: "USDT", network: "TRX", depositsEnabled: true })).status,
      200,
    );
  },
);

test("a deposit booked by hand is confirmed, failed or cancelled by an operator; a chain's is not", async () => {
  await using api = await testApi();
  const admin = await api.addKey(null, ADMIN);
  const { id, key } = await api.addMerchant();
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) {
    const made = await api.journal.ask(id, {
      type: "create-deposit",
      at: Date.now(),
      depositId: `dep_manual${i}`,
      transactionId: `txn_manual${i}`,
      currency: "USDT",
      network: "TRX",
      amount: 10n * 10n ** 18n as never,
      source: "bank",
      description: null,
      metadata: {},
      depositAddressId: null,
      txid: null,
      usdRate: "1",
    }, 60_000);
    assertEquals(made.kind, "done");
    ids.push(`dep_manual${i}`);
  }
  const waiting = await api.call("GET", `/api/admin/deposits?merchantId=${id}`, { key: admin });
  assertEquals(waiting.body.pagination.total, 3);
  assertEquals(waiting.body.deposits[0].merchantId, id);
  const decide = (depositId: string | undefined, verb: string, body?: object) =>
    api.call("POST", `/api/admin/deposits/${depositId}/${verb}`, {
      key: admin,
      ...(body === undefined ? {} : { body }),
    });
  assertEquals(
    (await api.call("POST", `/api/admin/deposits/${ids[0]}/confirm`, { key })).status,
    403,
  );
  assertEquals((await decide(ids[0], "confirm")).body.status, "CONFIRMED");
  assertEquals((await decide(ids[0], "confirm")).status, 200);
  const late = await decide(ids[0], "cancel");
  assertEquals([late.status, late.body.from, late.body.to], [409, "CONFIRMED", "CANCELLED"]);
  assertEquals((await decide(ids[1], "fail", { reason: "no money came" })).body.status, "FAILED");
  assertEquals((await decide(ids[2], "cancel", { unknown: 1 })).status, 400);
  assertEquals((await decide(ids[2], "cancel")).body.status, "CANCELLED");
  assertEquals((await decide("dep_none", "confirm")).status, 404);
  await addTransfer(api.sql, id, "5", { phase: "seen" });
  api.journal.wake(id);
  let seen: string | undefined;
  await until(async () => {
    const [row] = await api.sql`SELECT id FROM book.deposit WHERE source = 'onchain'`;
    seen = row?.id;
    return seen !== undefined;
  });
  const chains = await decide(seen, "confirm");
  assertEquals([chains.status, chains.body.from, chains.body.to], [409, "PENDING", "CONFIRMED"]);
  const left = await api.call("GET", "/api/admin/deposits", { key: admin });
  assertEquals(left.body.deposits, []);
  const balance = await api.call("GET", "/api/balance?currency=USDT&network=TRX", { key });
  assertEquals([balance.body.available, balance.body.pending], ["10", "5"]);
  assertEquals(await booksFaults(api.sql), []);
  const trail = await api.call("GET", `/api/admin/audit?merchantId=${id}`, { key: admin });
  const lines = trail.body.audit.map((line: { action: string; refused: string | null }) =>
    `${line.action} ${line.refused ?? "done"}`
  );
  assertEquals(lines, [
    "deposit.confirm not_manual",
    "deposit.cancel done",
    "deposit.fail done",
    "deposit.cancel wrong_state",
    "deposit.confirm done",
    "deposit.confirm done",
  ]);
});
