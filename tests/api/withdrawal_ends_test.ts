import { assert, assertEquals } from "@std/assert";
import type { MerchantCommand } from "../../actors/merchant/merchants.ts";
import { newId } from "../../actors/runtime/ids.ts";
import { type TestApi, testApi } from "../support/api.ts";
import { booksFaults, SOMEWHERE } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const PAYOUT = { amount: "10", currency: "USDT", network: "TRX", destination: SOMEWHERE };

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
