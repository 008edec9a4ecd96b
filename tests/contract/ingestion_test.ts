import { createHmac } from "node:crypto";
import { assertEquals } from "@std/assert";
import { moveCursor } from "../../ledger/watcher/cursor.ts";
import { INGEST_SECRET, type TestApi, testApi, testsOfOneApi } from "../support/api.ts";
import { booksFaults } from "../support/books.ts";
import { endPayout } from "./support/chain.ts";
import { openReseller, openShop, PAYOUT, type Shop } from "./support/shop.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("contract: ingestion");

/** The contract's words, written once more: keys sorted alphabetically on every level. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.keys(value).sort().map((key) => [key, sorted(Reflect.get(value, key))]),
  );
}

function sign(body: unknown, secret = INGEST_SECRET): string {
  return createHmac("sha256", secret).update(JSON.stringify(sorted(body))).digest("hex");
}

/** An upstream system with an administrator's key. */
async function upstream(api: TestApi) {
  const key = await api.addKey(null, { permissions: ["admin:write"] });
  return {
    key,
    send: (body: unknown, headers: Record<string, string> = {}, by = key) =>
      api.call("POST", "/api/webhook/event", {
        key: by,
        body,
        headers: { "x-signature": sign(body), "x-timestamp": String(Date.now()), ...headers },
      }),
  };
}

async function manualDeposit(shop: Shop): Promise<string> {
  const { status, body } = await shop.post("/api/deposits", {
    amount: "10",
    currency: "USDT",
    network: "TRX",
    source: "bank",
  });
  assertEquals(status, 201);
  return body.id;
}

shared(
  "POST /api/webhook/event: signed and in time it is taken in; once per eventId",
  async (api) => {
    const [shop, system] = [await openShop(api), await upstream(api)];
    const depositId = await manualDeposit(shop);
    const event = {
      type: "deposit.confirmed",
      eventId: "up-1",
      data: { depositId, z: [2, 1], a: 1 },
    };
    const first = await system.send(event);
    assertEquals(first.status, 200);
    assertEquals([first.body.success, typeof first.body.message], [true, "string"]);
    assertEquals((await shop.newest("deposits")).status, "CONFIRMED");
    assertEquals(await shop.balance(), ["10", "0"]);
    // the same event with its keys in another order
    const again = await system.send({
      data: { a: 1, z: [2, 1], depositId },
      eventId: "up-1",
      type: "deposit.confirmed",
    });
    assertEquals([again.status, again.body.success], [200, true]);
    assertEquals(await shop.balance(), ["10", "0"]);
    const other = await system.send({ ...event, data: { depositId, z: [1, 2], a: 1 } });
    assertEquals([other.status, other.body.error], [409, "Conflict"]);
    assertEquals(await booksFaults(api.sql), []);
  },
);

shared(
  "POST /api/webhook/event: a wrong signature or a stale timestamp is 401, another key 403",
  async (api) => {
    const [shop, system] = [await openShop(api), await upstream(api)];
    const depositId = await manualDeposit(shop);
    const event = { type: "deposit.confirmed", eventId: "up-1", data: { depositId } };
    const now = Date.now();
    const refusals: readonly Record<string, string>[] = [
      { "x-signature": sign(event, "another secret") },
      { "x-signature": sign({ ...event, eventId: "up-2" }) },
      { "x-signature": "" },
      { "x-timestamp": String(now - 5 * 60_000 - 10_000) },
      { "x-timestamp": String(now + 5 * 60_000 + 10_000) },
      { "x-timestamp": String(Math.floor(now / 1_000)) },
      { "x-timestamp": "soon" },
    ];
    for (const headers of refusals) {
      const { status, body } = await system.send(event, headers);
      assertEquals([status, body.error], [401, "Unauthorized"], JSON.stringify(headers));
    }
    assertEquals((await system.send(event, {}, shop.key)).status, 403);
    const reader = await api.addKey(null, { permissions: ["admin:read"] });
    assertEquals((await system.send(event, {}, reader)).status, 403);
    assertEquals((await shop.newest("deposits")).status, "PENDING");
    for (const skew of [-4, 4]) {
      const late = { ...event, eventId: `skew ${skew}` };
      const { status } = await system.send(late, { "x-timestamp": String(now + skew * 60_000) });
      assertEquals(status, 200, "within five minutes it is heard");
    }
  },
);

test("POST /api/webhook/event: each type moves its record, and only where it may", async () => {
  await using api = await testApi();
  const [shop, system] = [await openShop(api, { funds: "100" }), await upstream(api)];
  let events = 0;
  const send = async (type: string, data: object) => {
    const { status } = await system.send({ type, eventId: `up-${++events}`, data });
    return status;
  };
  const [failed, cancelled] = [await manualDeposit(shop), await manualDeposit(shop)];
  assertEquals(await send("deposit.failed", { depositId: failed, reason: "bounced" }), 200);
  assertEquals(await send("deposit.cancelled", { depositId: cancelled }), 200);
  assertEquals(await send("deposit.confirmed", { depositId: cancelled }), 409);
  assertEquals(await send("deposit.confirmed", { depositId: "dep_nobody" }), 404);
  assertEquals(await send("deposit.confirmed", {}), 400);
  assertEquals(await send("deposit.pending", { depositId: failed }), 400);
  const { body } = await shop.post("/api/withdrawals", PAYOUT);
  const { withdrawalId } = body;
  const passed = {
    height: 9,
    hash: "9".repeat(64),
    time: Date.now(),
    previousTime: Date.now(),
    tick: Date.now(),
    previousTick: Date.now(),
  };
  await moveCursor(api.sql, "TRX", "solid", null, passed);
  assertEquals(
    await send("withdrawal.confirmed", { withdrawalId, txHash: "a".repeat(64) }),
    422,
    "only a solid transfer that this service finds on the chain confirms",
  );
  assertEquals(await send("withdrawal.confirmed", { withdrawalId }), 400);
  assertEquals(await send("withdrawal.failed", { withdrawalId, reason: "no" }), 200);
  assertEquals((await shop.newest("withdrawals")).status, "FAILED");
  assertEquals(await shop.balance(), ["100", "0"]);
  assertEquals(await booksFaults(api.sql), []);
});

shared("POST /api/webhook/event: a signed payout is not failed on anybody's word", async (api) => {
  const [reseller, system] = [await openReseller(api, "100"), await upstream(api)];
  const shop = await openShop(api, { funds: "100" });
  const { body } = await shop.post("/api/withdrawals", PAYOUT);
  await endPayout(api, body.withdrawalId, "paid");
  const event = { type: "withdrawal.failed", eventId: "up-1", data: body };
  assertEquals((await system.send(event)).status, 409);
  assertEquals((await shop.newest("withdrawals")).status, "CONFIRMED");
  assertEquals(await reseller.balance(), ["100", "0"]);
  assertEquals(await booksFaults(api.sql), []);
});
