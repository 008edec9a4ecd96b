import { assert, assertEquals, assertMatch } from "@std/assert";
import { commitSigned } from "../support/commit_signed.ts";
import { testApi, testsOfOneApi } from "../support/api.ts";
import { booksFaults } from "../support/books.ts";
import { eventFaults } from "../support/documented.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { endPayout, eventsOf, pay, settled, vanish } from "./support/chain.ts";
import {
  issueAddress,
  openOffice,
  openReseller,
  openShop,
  PAYOUT,
  SETTLEMENT,
  whitelist,
} from "./support/shop.ts";
import { suite } from "./support/suite.ts";

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("contract: states");
const rule = suite("States");

/** Names of the events a merchant was told, those of statement lines aside, each documented. */
async function told(api: Awaited<ReturnType<typeof testApi>>, merchantId: string) {
  const events = await eventsOf(api, merchantId);
  for (const { type, body } of events) assertEquals(eventFaults(type, body), []);
  return events.map(({ type }) => type).filter((type) => !type.startsWith("transaction."));
}

rule(
  "Deposit: seen is PENDING on the pending balance, final is CONFIRMED and available",
  async (api) => {
    const shop = await openShop(api, { rate: "0.01" });
    const address = await issueAddress(shop);
    const txid = await pay(api, shop.id, address, "100", { phase: "seen" });
    assertEquals((await shop.newest("deposits")).status, "PENDING");
    assertEquals((await shop.newest("transactions")).status, "PENDING");
    assertEquals(await shop.balance(), ["0", "100"]);
    assertEquals(await told(api, shop.id), [], "deposit.pending is not an outbound event");
    await pay(api, shop.id, address, "100", { txid });
    assertEquals((await shop.newest("deposits")).status, "CONFIRMED");
    assertEquals((await shop.newest("transactions")).status, "CONFIRMED");
    assertEquals(await shop.balance(), ["98.5", "0"]);
    assertEquals(await told(api, shop.id), ["deposit.confirmed"]);
    assertEquals(await booksFaults(api.sql), []);
  },
);

rule(
  "Deposit: PENDING fails when its transfer can no longer land, and may land after all",
  async (api) => {
    const shop = await openShop(api);
    const address = await issueAddress(shop);
    const txid = await pay(api, shop.id, address, "100", { phase: "seen" });
    await vanish(api, shop.id, txid);
    assertEquals((await shop.newest("deposits")).status, "FAILED");
    assertEquals((await shop.newest("transactions")).status, "FAILED");
    assertEquals(await shop.balance(), ["0", "0"]);
    assertEquals(await told(api, shop.id), ["deposit.failed"]);
    await pay(api, shop.id, address, "100", { txid });
    assertEquals((await shop.newest("deposits")).status, "CONFIRMED");
    assertEquals(await shop.balance(), ["99.5", "0"]);
    assertEquals(await told(api, shop.id), ["deposit.failed", "deposit.confirmed"]);
    assertEquals(await booksFaults(api.sql), []);
  },
);

rule(
  "Deposit: a manual one is PENDING until an operator confirms, fails or cancels it",
  async (api) => {
    const shop = await openShop(api, { rate: "0.01" });
    const office = await openOffice(api);
    const create = async () => {
      const { status, body } = await shop.post("/api/deposits", {
        amount: "50",
        currency: "USDT",
        network: "TRX",
        source: "bank",
      });
      assertEquals([status, body.status], [201, "PENDING"]);
      return body.id as string;
    };
    const ids = [await create(), await create(), await create()];
    assertEquals(await shop.balance(), ["0", "150"]);
    for (const [i, verb] of ["confirm", "fail", "cancel"].entries()) {
      const { status, body } = await office.post(`/api/admin/deposits/${ids[i]}/${verb}`);
      assertEquals(status, 200);
      assertEquals(body.status, ["CONFIRMED", "FAILED", "CANCELLED"][i]);
      const again = await office.post(
        `/api/admin/deposits/${ids[i]}/${i === 0 ? "fail" : "confirm"}`,
      );
      assertEquals(again.status, 409);
    }
    assertEquals(await shop.balance(), ["49.5", "0"]);
    const { body } = await shop.get("/api/deposits");
    assertEquals(body.deposits.map((row: { status: string }) => row.status), [
      "CANCELLED",
      "FAILED",
      "CONFIRMED",
    ]);
    assertEquals(await booksFaults(api.sql), []);
  },
);

rule("Withdrawal: PENDING reserves, CONFIRMED is told", async (api) => {
  const shop = await openShop(api, { funds: "100" });
  const { status, body } = await shop.post("/api/withdrawals", { ...PAYOUT, referenceId: "r1" });
  assertEquals([status, body.status], [201, "PENDING"]);
  assertEquals(await shop.balance(), ["88", "0"]);
  await endPayout(api, body.withdrawalId, "paid");
  const row = await shop.newest("withdrawals");
  assertEquals(row.status, "CONFIRMED");
  assertEquals(await shop.balance(), ["88", "0"]);
  assertEquals((await told(api, shop.id)).slice(-1), ["withdrawal.confirmed"]);
  const taken = await shop.post("/api/withdrawals", { ...PAYOUT, referenceId: "r1" });
  assertEquals(taken.status, 409, "a paid reference stays taken");
  assertEquals(await booksFaults(api.sql), []);
});

rule("Withdrawal: FAILED refunds amount and fees and releases the referenceId", async (api) => {
  const shop = await openShop(api, { funds: "100" });
  const request = { ...PAYOUT, referenceId: "r1" };
  const { body } = await shop.post("/api/withdrawals", request);
  assertEquals((await shop.post("/api/withdrawals", request)).status, 409);
  await endPayout(api, body.withdrawalId, "failed");
  assertEquals((await shop.newest("withdrawals")).status, "FAILED");
  assertEquals((await shop.newest("transactions")).status, "FAILED");
  assertEquals(await shop.balance(), ["100", "0"]);
  const events = (await eventsOf(api, shop.id)).filter(({ type }) => type === "withdrawal.failed");
  assertEquals(events.length, 1);
  assertEquals(events[0]?.body.referenceId, "r1");
  const retry = await shop.post("/api/withdrawals", request);
  assertEquals([retry.status, retry.body.withdrawalId !== body.withdrawalId], [201, true]);
  assertEquals(await booksFaults(api.sql), []);
});

shared(
  "States, Withdrawal: a reseller's is PENDING_APPROVAL, then PENDING or CANCELLED",
  async (api) => {
    const reseller = await openReseller(api, "100");
    const create = async (referenceId: string) => {
      const { status, body } = await reseller.post("/api/withdrawals", { ...PAYOUT, referenceId });
      assertEquals([status, body.status], [201, "PENDING_APPROVAL"]);
      return body.withdrawalId as string;
    };
    const [approved, rejected, taken] = [await create("a"), await create("b"), await create("c")];
    assertEquals(await reseller.balance(), ["64", "0"]);
    const queued = await api.sql`SELECT 1 FROM book.outgoing`;
    assertEquals(queued.length, 0, "the payout is submitted only after approval");
    const waiting = await reseller.get("/api/withdrawals?status=PENDING_APPROVAL");
    assertEquals(waiting.body.pagination.total, 3);
    const { office } = reseller;
    const approve = () => office.post(`/api/admin/withdrawals/${approved}/approve`);
    for (const { status, body } of [await approve(), await approve()]) {
      assertEquals([status, body.status], [200, "PENDING"], "approving twice is idempotent");
    }
    assertEquals((await api.sql`SELECT 1 FROM book.outgoing`).length, 1);
    const reject = await office.post(`/api/admin/withdrawals/${rejected}/reject`, { reason: "no" });
    assertEquals([reject.status, reject.body.status], [200, "CANCELLED"]);
    const late = await office.post(`/api/admin/withdrawals/${rejected}/approve`);
    assertEquals(late.status, 409, "approving after reject");
    assertMatch(late.body.message, /CANCELLED.*PENDING/);
    assertEquals(
      (await reseller.post(`/api/withdrawals/${taken}/cancel`)).body.status,
      "CANCELLED",
    );
    assertEquals((await reseller.post(`/api/withdrawals/${approved}/cancel`)).status, 409);
    assertEquals(await reseller.balance(), ["88", "0"]);
    const reasons = (await eventsOf(api, reseller.id))
      .filter(({ type }) => type === "withdrawal.failed").map(({ body }) => body.reason);
    assertEquals(reasons, ["Rejected: no", "Cancelled"]);
    assertEquals(
      (await reseller.post("/api/withdrawals", { ...PAYOUT, referenceId: "b" })).status,
      201,
    );
    await endPayout(api, approved, "paid");
    const { body } = await reseller.get("/api/withdrawals?status=CONFIRMED");
    assertEquals(body.withdrawals.map((row: { id: string }) => row.id), [approved]);
    assertEquals(await booksFaults(api.sql), []);
  },
);

/** States that a settlement shows it was in. */
function passed({ history }: { readonly history: readonly { readonly status: string }[] }) {
  return history.map(({ status }) => status);
}

rule("Settlement: below the threshold it is processed, submitted and completed", async (api) => {
  const shop = await openShop(api, { funds: "100" });
  await whitelist(api, shop);
  const created = await shop.post("/api/settlements", SETTLEMENT);
  assertEquals([created.status, created.body.status], [201, "PROCESSING"]);
  assertEquals(passed(created.body), ["PENDING", "PROCESSING"]);
  assertEquals(await shop.balance(), ["88", "0"]);
  const { withdrawalId } = created.body;
  await endPayout(api, withdrawalId, "paid");
  assertEquals((await shop.newest("settlements")).status, "COMPLETED");
  const failing = await shop.post("/api/settlements", SETTLEMENT);
  await endPayout(api, failing.body.withdrawalId, "failed");
  assertEquals((await shop.newest("settlements")).status, "FAILED");
  assertEquals(await shop.balance(), ["88", "0"], "reserved funds return on FAILED");
  const lines = (await shop.get("/api/transactions?type=SETTLEMENT")).body.transactions;
  assertEquals(lines.map((line: { status: string }) => line.status), ["FAILED", "CONFIRMED"]);
  assertEquals((await shop.get("/api/withdrawals")).body.withdrawals, []);
  assertEquals((await told(api, shop.id)).filter((type) => type.startsWith("withdrawal")), []);
  const { settlements } = (await shop.get("/api/settlements?status=COMPLETED")).body;
  assertEquals(settlements.map(passed), [
    ["PENDING", "PROCESSING", "SUBMITTED_TO_LEDGER", "COMPLETED"],
  ]);
  assertEquals(await booksFaults(api.sql), []);
});

rule("Settlement: SUBMITTED_TO_LEDGER while its transaction is on its way", async (api) => {
  const shop = await openShop(api, { funds: "100" });
  await whitelist(api, shop);
  const { body } = await shop.post("/api/settlements", SETTLEMENT);
  const [outgoing] = await api.sql`
    SELECT id FROM book.outgoing WHERE payment_id = ${body.withdrawalId}`;
  await commitSigned(api.sql, [{
    outgoingId: outgoing?.["id"],
    merchantId: shop.id,
    network: "TRX",
    txid: "d".repeat(64),
    bytes: "{}",
    expiresAt: Date.now() + 60_000,
  }]);
  await settled(api, shop.id);
  assertEquals((await shop.newest("settlements")).status, "SUBMITTED_TO_LEDGER");
  assertEquals((await shop.post(`/api/settlements/${body.id}/cancel`)).status, 409);
});

test("States, Settlement: at the threshold it waits; approved, rejected or cancelled", async () => {
  await using api = await testApi();
  const shop = await openShop(api, { funds: "40000" });
  const office = await openOffice(api);
  await whitelist(api, shop);
  const create = async () => {
    const { status, body } = await shop.post("/api/settlements", {
      ...SETTLEMENT,
      requestedAmount: "10000",
    });
    assertEquals(status, 201);
    assertEquals([body.status, body.message], [
      "APPROVAL_REQUIRED",
      "Settlement created and awaiting admin approval",
    ]);
    return body.id as string;
  };
  const [approved, rejected, cancelled] = [await create(), await create(), await create()];
  assertEquals(await shop.balance(), ["9994", "0"], "funds are reserved");
  assertEquals((await api.sql`SELECT 1 FROM book.outgoing`).length, 0);
  const approve = await office.post(`/api/admin/settlements/${approved}/approve`);
  assertEquals(approve.status, 200);
  assert(["APPROVED", "PROCESSING"].includes(approve.body.status));
  const rows = (await shop.get("/api/settlements")).body.settlements;
  const row = rows.find(({ id }: { readonly id: string }) => id === approved);
  assertEquals(passed(row), ["PENDING", "APPROVAL_REQUIRED", "APPROVED", "PROCESSING"]);
  const { body: { audit } } = await office.get("/api/admin/audit?action=settlement.approve");
  assertEquals(audit[0].after.steps, ["APPROVED", "PROCESSING"]);
  assertEquals((await api.sql`SELECT 1 FROM book.outgoing`).length, 1);
  const reject = await office.post(`/api/admin/settlements/${rejected}/reject`, { reason: "no" });
  assertEquals([reject.status, reject.body.status], [200, "REJECTED"]);
  assertEquals((await office.post(`/api/admin/settlements/${rejected}/approve`)).status, 409);
  const cancel = await shop.post(`/api/settlements/${cancelled}/cancel`);
  assertEquals([cancel.status, cancel.body.status], [200, "CANCELLED"]);
  assertEquals(passed(cancel.body), ["PENDING", "APPROVAL_REQUIRED", "CANCELLED"]);
  assertEquals(await shop.balance(), ["29998", "0"]);
  assertEquals(await booksFaults(api.sql), []);
});

test("States, Hosted page: waiting, received, completed; failed; 410 after 15 minutes", async () => {
  let now = Date.now();
  await using api = await testApi({ clock: () => now });
  const shop = await openShop(api);
  const open = async () =>
    (await shop.post("/api/deposit-url", { network: "TRX", identifier: "a" })).body;
  const [paid, failed] = [await open(), await open()];
  const look = (page: { sessionToken: string }) =>
    api.call("GET", `/api/deposit-page/status?token=${page.sessionToken}`);
  assertEquals((await look(paid)).body.status, "waiting");
  const txid = await pay(api, shop.id, paid.address, "5", { phase: "seen" });
  assertEquals((await look(paid)).body.status, "received");
  await pay(api, shop.id, paid.address, "5", { txid });
  assertEquals((await look(paid)).body.status, "completed");
  const lost = await pay(api, shop.id, failed.address, "5", { phase: "seen" });
  await vanish(api, shop.id, lost);
  assertEquals((await look(failed)).body.status, "failed");
  now = Date.parse(paid.expiresAt) - 1;
  assertEquals((await look(paid)).status, 200);
  now += 1;
  for (const page of [paid, failed]) {
    const { status, body } = await look(page);
    assertEquals([status, body], [410, { error: "Session expired", code: "session_expired" }]);
  }
});
