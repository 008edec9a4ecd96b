import { assertEquals, assertMatch } from "@std/assert";
import { type TestApi, testApi } from "../support/api.ts";
import { addTransfer, until } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** A page of a new merchant, and what the service hears of its address. */
async function openPage(api: TestApi) {
  const { id, key } = await api.addMerchant();
  const { body } = await api.call("POST", "/api/deposit-url", {
    key,
    body: { network: "TRX", identifier: "alice" },
  });
  const [row] = await api.sql`SELECT address_id FROM hub.session WHERE address = ${body.address}`;
  const look = () => api.call("GET", `/api/deposit-page/status?token=${body.sessionToken}`);
  return {
    id,
    look,
    hear: (amount: string, fields: { phase: "seen" | "solid"; txid?: string }) =>
      addTransfer(api.sql, id, amount, {
        ...fields,
        to: body.address,
        addressId: row?.address_id,
      }).then((txid) => {
        api.journal.wake(id);
        return txid;
      }),
    reach: (status: string) => until(async () => (await look()).body.status === status),
  };
}

test("waiting, received, completed: each with what is known by then", async () => {
  await using api = await testApi();
  const page = await openPage(api);
  const waiting = await page.look();
  assertEquals(waiting.headers.get("cache-control"), "no-store");
  assertEquals([waiting.status, waiting.body], [200, { status: "waiting" }]);
  const txid = await page.hear("5", { phase: "seen" });
  await page.reach("received");
  const { receivedAt, ...received } = (await page.look()).body.deposit;
  assertMatch(receivedAt, /^\d{4}-.*Z$/);
  assertEquals(received, { amount: "5", currency: "USDT", txHash: txid, creditedAt: null });
  await page.hear("5", { phase: "solid", txid });
  await page.reach("completed");
  const { creditedAt, ...completed } = (await page.look()).body.deposit;
  assertMatch(creditedAt, /^\d{4}-.*Z$/);
  assertEquals(completed, { amount: "5", currency: "USDT", txHash: txid, receivedAt });
});

test("a payment that came to nothing is failed, and one that is credited counts more", async () => {
  await using api = await testApi();
  const page = await openPage(api);
  const txid = await page.hear("5", { phase: "seen" });
  await page.reach("received");
  await api.sql`
    INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
    VALUES (${page.id}, 'TRX', ${txid}, 0, 'vanished', ${
    api.sql.json({ reason: "expired", to: "x" })
  })`;
  api.journal.wake(page.id);
  await page.reach("failed");
  assertEquals((await page.look()).body.deposit.txHash, txid);
  const credited = await page.hear("7", { phase: "solid" });
  await page.reach("completed");
  assertEquals((await page.look()).body.deposit.txHash, credited);
  await page.hear("9", { phase: "seen" });
  await page.reach("completed");
  assertEquals((await page.look()).body.deposit.txHash, credited);
});

test("no token is 400, an unknown one 404, one whose time is over 410 whatever was paid", async () => {
  await using api = await testApi();
  const page = await openPage(api);
  const call = (query: string) => api.call("GET", `/api/deposit-page/status${query}`);
  for (const query of ["", "?token=", "?other=1"]) {
    const { status, body, headers } = await call(query);
    assertEquals([status, body], [400, { error: "Token is required" }]);
    assertEquals(headers.get("cache-control"), "no-store");
  }
  for (const token of ["x", "A".repeat(43), "ä", "a".repeat(5_000)]) {
    const { status, body } = await call(`?token=${token}`);
    assertEquals([status, body], [404, { error: "Invalid token" }]);
  }
  await page.hear("5", { phase: "solid" });
  await page.reach("completed");
  await api.sql`UPDATE hub.session SET expires_at = now()`;
  const { status, body, headers } = await page.look();
  assertEquals([status, body], [410, { error: "Session expired" }]);
  assertEquals(headers.get("cache-control"), "no-store");
});
