import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type TestApi, testApi, testsOfOneApi } from "../support/api.ts";
import { booksFaults, SOMEWHERE } from "../support/books.ts";
import { book, confirm } from "../support/duties.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("approvals");
const ADMIN = { permissions: ["admin:read", "admin:write"] };
const PAYOUT = { amount: "10", currency: "USDT", network: "TRX", destination: SOMEWHERE };

/** A reseller's account with money and its pinned destination. */
async function reseller(api: Awaited<ReturnType<typeof testApi>>) {
  const { id } = await api.addMerchant("100");
  await api.sql`
    INSERT INTO hub.reseller (id, merchant_id, name, withdrawal_address, network)
    VALUES ('rsl_1', ${id}, 'Reseller', ${SOMEWHERE}, 'TRX')`;
  return { id, key: await api.addKey(id, { role: "RESELLER" }) };
}

shared(
  "a reseller's withdrawal leaves only when an administrator approves it, and once",
  async (api) => {
    const admin = await api.addKey(null, ADMIN);
    const { key } = await reseller(api);
    const made = await api.call("POST", "/api/withdrawals", { key, body: PAYOUT });
    assertEquals([made.status, made.body.status], [201, "PENDING_APPROVAL"]);
    const id = made.body.withdrawalId;
    const queue = await api.call("GET", "/api/admin/approvals", { key: admin });
    assertEquals(queue.body.pagination.total, 1);
    const { createdAt, merchantId, createdBy, ...waiting } = queue.body.approvals[0];
    assertMatch(`${createdAt} ${merchantId} ${createdBy}`, /Z mer_.* key_/);
    assertEquals(waiting, {
      type: "withdrawal",
      id,
      merchantName: "Test",
      currency: "USDT",
      network: "TRX",
      amount: "10",
      totalFees: "2",
      destination: SOMEWHERE,
      status: "PENDING_APPROVAL",
      waitsFor: "approval",
    });
    const outgoing = () => api.sql`SELECT status FROM book.outgoing`;
    assertEquals((await outgoing()).length, 0);
    const approve = `/api/admin/withdrawals/${id}/approve`;
    assertEquals((await api.call("POST", approve, { key })).status, 403);
    const unknown = await api.call("POST", approve, { key: admin, body: { reason: "x" } });
    assertEquals(unknown.status, 400);
    for (let i = 0; i < 2; i++) {
      const answer = await api.call("POST", approve, { key: admin });
      assertEquals([answer.status, answer.body.status], [200, "PENDING"]);
    }
    assertEquals((await outgoing()).map((row) => row.status), ["queued"]);
    const rejected = await api.call("POST", `/api/admin/withdrawals/${id}/reject`, {
      key: admin,
      body: { reason: "too late" },
    });
    assertEquals(rejected.status, 409);
    assertEquals([rejected.body.from, rejected.body.to], ["PENDING", "CANCELLED"]);
    const again = await api.call("GET", "/api/admin/approvals", { key: admin });
    assertEquals(again.body.approvals, []);
    const trail = await api.call("GET", `/api/admin/audit?subject=${id}`, { key: admin });
    assertEquals(
      trail.body.audit.map((
        line: { action: string; before: unknown; after: unknown; refused: string },
      ) => [line.action, line.before, line.after, line.refused]),
      [
        ["withdrawal.reject", null, null, "wrong_state"],
        ["withdrawal.approve", { status: "PENDING", reason: null }, {
          status: "PENDING",
          reason: null,
        }, null],
        ["withdrawal.approve", { status: "PENDING_APPROVAL", reason: null }, {
          status: "PENDING",
          reason: null,
        }, null],
      ],
    );
  },
);

test("a rejected withdrawal is refunded, told with its reason, and cannot be approved", async () => {
  await using api = await testApi();
  const admin = await api.addKey(null, ADMIN);
  const { key } = await reseller(api);
  const made = await api.call("POST", "/api/withdrawals", { key, body: PAYOUT });
  const id = made.body.withdrawalId;
  const reject = `/api/admin/withdrawals/${id}/reject`;
  for (const body of [{}, { reason: "" }, { reason: "x", more: 1 }]) {
    assertEquals((await api.call("POST", reject, { key: admin, body })).status, 400);
  }
  const answer = await api.call("POST", reject, {
    key: admin,
    body: { reason: "unknown payee" },
  });
  assertEquals([answer.status, answer.body.status], [200, "CANCELLED"]);
  const approve = await api.call("POST", `/api/admin/withdrawals/${id}/approve`, { key: admin });
  assertEquals([approve.status, approve.body.from], [409, "CANCELLED"]);
  const balance = await api.call("GET", "/api/balance?currency=USDT&network=TRX", { key });
  assertEquals(balance.body.available, "100");
  const [event] = await api.sql`SELECT payload FROM book.outbox WHERE type = 'withdrawal.failed'`;
  assertStringIncludes(event?.payload, "Rejected: unknown payee");
  assertEquals(await booksFaults(api.sql), []);
  const missing = await api.call("POST", "/api/admin/withdrawals/wd_x/approve", { key: admin });
  assertEquals(missing.status, 404);
});

shared("thresholds are per currency, and a settlement above its own waits", async (api) => {
  const admin = await api.addKey(null, ADMIN);
  const { id, key } = await api.addMerchant("100");
  const path = "/api/admin/settings";
  const settings = await api.call("GET", path, { key: admin });
  assertEquals(settings.body, { settlementThresholds: { USDT: "10000", USDC: "10000" } });
  const set = await api.call("PUT", path, {
    key: admin,
    body: { settlementThresholds: { USDT: "20" } },
  });
  assertEquals(set.body, { settlementThresholds: { USDT: "20", USDC: "10000" } });
  const unknown = await api.call("PUT", path, {
    key: admin,
    body: { settlementThresholds: { EUR: "20" } },
  });
  assertEquals(unknown.status, 400);
  const above = await api.call("PUT", "/api/admin/settings", {
    key: admin,
    body: { settlementThresholds: { USDT: "1000000000000.000001" } },
  });
  assertEquals([above.status, above.body.error], [400, "Invalid request data"]);
  await api.sql`
    INSERT INTO book.settlement_address (id, merchant_id, network, address, label, created_at)
    VALUES ('adr_1', ${id}, 'TRX', ${SOMEWHERE}, 'cold', now())`;
  const listed = await api.call("GET", "/api/admin/settlement-addresses?active=false", {
    key: admin,
  });
  assertEquals(listed.body.settlementAddresses.map((row: { id: string }) => row.id), ["adr_1"]);
  const activated = await api.call("POST", "/api/admin/settlement-addresses/adr_1/activate", {
    key: admin,
  });
  assertEquals([activated.status, activated.body.active], [200, true]);
  const none = await api.call("GET", "/api/admin/settlement-addresses?active=false", {
    key: admin,
  });
  assertEquals(none.body.pagination.total, 0);
  const settle = (requestedAmount: string) =>
    api.call("POST", "/api/settlements", {
      key,
      body: {
        currency: "USDT",
        requestedAmount,
        destinationAddress: SOMEWHERE,
        destinationNetwork: "TRX",
      },
    });
  assertEquals((await settle("19")).body.status, "PROCESSING");
  const waiting = await settle("20");
  assertEquals([waiting.status, waiting.body.status], [201, "APPROVAL_REQUIRED"]);
  const queue = await api.call("GET", "/api/admin/approvals", { key: admin });
  const [{ type, id: settlementId }] = queue.body.approvals;
  assertEquals([queue.body.pagination.total, type], [1, "settlement"]);
  const approve = `/api/admin/settlements/${settlementId}/approve`;
  for (let i = 0; i < 2; i++) {
    const answer = await api.call("POST", approve, { key: admin });
    assertEquals([answer.status, answer.body.status], [200, "PROCESSING"]);
  }
  const rejected = await api.call("POST", `/api/admin/settlements/${settlementId}/reject`, {
    key: admin,
    body: { reason: "no" },
  });
  assertEquals([rejected.status, rejected.body.from, rejected.body.to], [
    409,
    "PROCESSING",
    "REJECTED",
  ]);
  const off = await api.call("POST", "/api/admin/settlement-addresses/adr_1/deactivate", {
    key: admin,
  });
  assertEquals(off.body.active, false);
  assertEquals(
    (await settle("5")).body.error,
    "Destination address is not whitelisted for this merchant",
  );
  assertEquals(await booksFaults(api.sql), []);
});

const FULL = { permissions: ["read", "write", "payout", "admin:read", "admin:write"] };

/** Holds rows in a session that was left open. @returns lets go of them */
async function hold({ sql }: TestApi, lock: string): Promise<() => Promise<void>> {
  const connection = await sql.reserve();
  await connection`BEGIN`;
  await connection`SET LOCAL idle_in_transaction_session_timeout = 0`;
  await connection.unsafe(lock);
  return async () => {
    await connection`ROLLBACK`;
    connection.release();
  };
}

async function pay(api: TestApi, key: string): Promise<number> {
  const { status } = await api.call("POST", "/api/withdrawals", {
    key,
    body: { amount: "5", currency: "USDT", network: "TRX", destination: SOMEWHERE },
  });
  return status;
}

for (
  const { row, lock } of [
    { row: "the head of the audit", lock: "SELECT FROM hub.audit_head FOR UPDATE" },
    { row: "the duties", lock: "SELECT FROM book.duty FOR UPDATE" },
  ]
) {
  test(`a session that holds ${row} stops audited commands, each with 503, and no merchant's payouts`, async () => {
    await using api = await testApi();
    const admin = await api.addKey(null, FULL);
    const merchants = [];
    for (let i = 0; i < 4; i++) merchants.push(await api.addMerchant("1000"));
    const keys = merchants.map(({ key }) => key);
    const deposit = await book(api, keys[0] ?? "", "5");
    const letGo = await hold(api, lock);
    // the merchant whose deposit it is pays as well
    const [confirmed, ...paid] = await Promise.all([
      confirm(api, admin, deposit),
      ...keys.map((key) => pay(api, key)),
    ]);
    assertEquals(confirmed, [503, "Service unavailable"]);
    assertEquals(paid, keys.map(() => 201));
    assertEquals(api.journal.auditLockedMs < 60_000, true);
    assertEquals([api.journal.figures.paused, api.journal.figures.quarantined], [0, 0]);
    assertEquals(await confirm(api, admin, deposit), [503, "Service unavailable"]);
    await letGo();
    const until = performance.now() + 60_000;
    let again = await confirm(api, admin, deposit);
    while (again[0] === 503 && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      again = await confirm(api, admin, deposit);
    }
    assertEquals(again, [200, "CONFIRMED"]);
    assertEquals(await booksFaults(api.sql), []);
  });
}

test("an administrator's setting that cannot be audited is answered 503 and not stored", async () => {
  await using api = await testApi();
  const admin = await api.addKey(null, FULL);
  const letGo = await hold(api, "SELECT FROM hub.audit_head FOR UPDATE");
  const body = { settlementThresholds: { USDT: "77" } };
  const path = "/api/admin/settings";
  assertEquals((await api.call("PUT", path, { key: admin, body })).status, 503);
  await letGo();
  const kept = (await api.call("GET", path, { key: admin })).body;
  assertEquals(kept.settlementThresholds.USDT, "10000");
  assertEquals((await api.call("PUT", path, { key: admin, body })).status, 200);
});

test("while payouts are held nothing that waits for approval is given back: a 503 that says why, to merchants and administrators", async () => {
  await using api = await testApi();
  const admin = await api.addKey(null, ADMIN);
  const { key } = await reseller(api);
  const made = await api.call("POST", "/api/withdrawals", { key, body: PAYOUT });
  const withdrawal = made.body.withdrawalId;
  const hold = (by: number) =>
    api.sql`UPDATE hub.database_history SET timeline = timeline + ${by}::int`;
  const body = { reason: "not today" };
  const decline = (path: string) =>
    path.startsWith("/api/admin")
      ? api.call("POST", path, { key: admin, body })
      : api.call("POST", path, { key });
  await hold(1_000_000);
  const doors = [
    `/api/withdrawals/${withdrawal}/cancel`,
    `/api/admin/withdrawals/${withdrawal}/reject`,
  ];
  for (const path of doors) {
    const { status, body: { message, ...answer }, headers } = await decline(path);
    assertEquals([status, answer.error, answer.code], [503, "Service unavailable", "unavailable"]);
    assertMatch(message, /may have been paid already .* Nothing was done/);
    assertEquals(headers.has("retry-after"), true);
  }
  await hold(-1_000_000);
  assertEquals((await decline(doors[1] ?? "")).body.status, "CANCELLED");
  assertEquals(await booksFaults(api.sql), []);
});
