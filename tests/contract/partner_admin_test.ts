import { assert, assertEquals } from "@std/assert";
import { addressOf, testApi, testsOfOneApi } from "../support/api.ts";
import { booksFaults } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { pay } from "./support/chain.ts";
import { issueAddress, openOffice, openReseller, openShop, PAYOUT } from "./support/shop.ts";

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("contract: partner admin");

shared(
  "Partner routes: a reseller reads itself and its line; an administrator changes them",
  async (api) => {
    const reseller = await openReseller(api, "10");
    const { office, resellerId } = reseller;
    const shop = await openShop(api, { rate: "0.1" });
    const attach = await office.put(`/api/merchants/${shop.id}/reseller`, {
      resellerId,
      marginRate: "0.25",
      beneficiary: "reseller",
    });
    assertEquals(attach.body, {
      merchantId: shop.id,
      resellerId,
      marginRate: "0.25",
      beneficiary: "reseller",
    });
    assertEquals((await office.get(`/api/merchants/${shop.id}/reseller`)).body, attach.body);
    const denied = await shop.get(`/api/merchants/${shop.id}/reseller`);
    assertEquals(denied.status, 403, "admin only");
    const line = await reseller.get(`/api/resellers/${resellerId}/merchants`);
    assertEquals(line.body.merchants.map(({ id }: { id: string }) => id), [shop.id]);
    const address = await issueAddress(shop);
    await pay(api, shop.id, address, "100");
    const { body } = await reseller.get(`/api/resellers/${resellerId}/earnings`);
    assertEquals(body.resellerId, resellerId);
    // 10 % commission and 0.5 activation, a quarter each
    assertEquals([body.earnings[0].grossFeesCharged, body.earnings[0].marginEarned], [
      "10.5",
      "2.625",
    ]);
    const move = { withdrawalAddress: addressOf(4_321) };
    const own = await api.call("PUT", `/api/resellers/${resellerId}`, {
      key: reseller.key,
      body: move,
    });
    assertEquals(own.status, 403, "only an administrator changes the registered address");
    const moved = await office.put(`/api/resellers/${resellerId}`, move);
    assertEquals([moved.status, moved.body.withdrawalAddress], [200, move.withdrawalAddress]);
    assertEquals((await reseller.post("/api/withdrawals", PAYOUT)).status, 400, "at once");
    const detach = await office.put(`/api/merchants/${shop.id}/reseller`, { resellerId: null });
    assertEquals([detach.status, detach.body.resellerId], [200, null]);
    assertEquals((await office.get("/api/resellers")).body.pagination.total, 1);
  },
);

shared("Admin: the approval queue lists what waits, of all merchants", async (api) => {
  const reseller = await openReseller(api, "100");
  const { office } = reseller;
  const { body } = await reseller.post("/api/withdrawals", PAYOUT);
  const queue = await office.get("/api/admin/approvals");
  assertEquals(
    queue.body.approvals.map((row: Record<string, string>) => [row.type, row.id, row.merchantId]),
    [["withdrawal", body.withdrawalId, reseller.id]],
  );
  const path = `/api/admin/withdrawals/${body.withdrawalId}`;
  assertEquals((await office.post(`${path}/reject`, {})).status, 400, "a reason is needed");
  assertEquals((await office.post(`${path}/approve`)).status, 200);
  assertEquals((await office.get("/api/admin/approvals")).body.pagination.total, 0);
  assertEquals((await office.post("/api/admin/withdrawals/wd_nobody/approve")).status, 404);
});

shared("Admin: withdrawal fees are read, set and tried out", async (api) => {
  const office = await openOffice(api);
  const path = "/api/admin/withdrawal-fees";
  assertEquals((await office.get(path)).body, { baseFee: "1", markupRate: "0", enabled: true });
  const set = await office.post(path, { baseFee: "0.50", markupRate: "0.0010", enabled: true });
  assertEquals(set.body, { baseFee: "0.5", markupRate: "0.001", enabled: true });
  const tried = await office.put(path, { amount: "1000", currency: "USDT" });
  assertEquals(tried.body.feeInfo.feeBreakdown, {
    baseFee: "0.5",
    markupRate: "0.001",
    markupAmount: "1",
    networkFee: "1",
    totalFee: "2.5",
  });
  for (
    const body of [{ baseFee: "-1" }, { markupRate: "2" }, { enabled: "yes" }, { other: 1 }, {}]
  ) {
    assertEquals((await office.post(path, body)).status, 400, JSON.stringify(body));
  }
});

shared("Admin: what changes is in the audit with who, what, before and after", async (api) => {
  const office = await openOffice(api);
  const { body: merchant } = await office.post("/api/admin/merchants", { name: "New Shop" });
  assert(merchant.webhookSecret.startsWith("whsec_"), "shown this once");
  await office.patch(`/api/merchants/${merchant.id}`, { status: "SUSPENDED" });
  await office.put("/api/admin/settings", { settlementThresholds: { USDT: "5000" } });
  await office.put("/api/admin/pairs", { currency: "USDT", network: "TRX", minWithdrawal: "2" });
  const { body } = await office.get("/api/admin/audit?limit=100");
  assert(body.audit.length >= 4);
  const suspended = body.audit.find(({ merchantId, after }: Record<string, unknown>) =>
    merchantId === merchant.id && JSON.stringify(after).includes("SUSPENDED")
  );
  assert(JSON.stringify(suspended.before).includes("ACTIVE"));
  assertEquals(suspended.refused, null);
  const { body: read } = await office.get(`/api/merchants/${merchant.id}`);
  assert(!("webhookSecret" in read));
  assertEquals((await office.get("/api/admin/settings")).body.settlementThresholds.USDT, "5000");
});

shared(
  "Admin: unknown fields are rejected in admin bodies and ignored in merchants' ones",
  async (api) => {
    const [office, shop] = [await openOffice(api), await openShop(api, { funds: "100" })];
    const admin = await office.post("/api/admin/merchants", { name: "x", nmae: "y" });
    assertEquals([admin.status, admin.body.error], [400, "Invalid request data"]);
    const own = await shop.post("/api/withdrawals", { ...PAYOUT, unknown: { deep: [1] } });
    assertEquals(own.status, 201);
    assertEquals(await booksFaults(api.sql), []);
  },
);

test("Operation: health and readiness answer without a key", async () => {
  let status: "ok" | "degraded" | "unready" = "ok";
  let now = Date.now();
  await using api = await testApi({
    clock: () => now,
    readiness: () => Promise.resolve({ status, reasons: ["x"] }),
  });
  assertEquals((await api.call("GET", "/healthz")).status, 200);
  assertEquals((await api.call("GET", "/readyz")).status, 200);
  status = "degraded";
  now += 1_000;
  assertEquals((await api.call("GET", "/readyz")).body, { status: "degraded", reasons: ["x"] });
  status = "unready";
  now += 1_000;
  const unready = await api.call("GET", "/readyz");
  assertEquals([unready.status, unready.body], [503, { status: "unready", reasons: ["x"] }]);
  assertEquals(unready.headers.get("retry-after"), "1");
  const metrics = await api.call("GET", "/metrics");
  assertEquals(metrics.status, 200);
  assert(metrics.headers.get("content-type")?.startsWith("text/plain"));
});
