import { assert, assertEquals } from "@std/assert";
import { type TestApi, testApi, testsOfOneApi } from "../support/api.ts";
import { booksFaults } from "../support/books.ts";
import { endPayout } from "./support/chain.ts";
import {
  issueAddress,
  openReseller,
  openShop,
  PAYOUT,
  SETTLEMENT,
  type Shop,
  whitelist,
} from "./support/shop.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("contract: concurrency");

/** A merchant whose limits do not stand in the way. */
async function busyShop(api: TestApi, funds: string): Promise<Shop> {
  const shop = await openShop(api, { funds });
  await api.sql`
    UPDATE book.merchant SET rate_limits = '{"withdrawals": 0, "deposits": 0, "transactions": 0}'
    WHERE merchant_id = ${shop.id}`;
  return shop;
}

async function count(api: TestApi, table: string): Promise<number> {
  const [row] = await api.sql`SELECT count(*)::int AS n FROM ${api.sql(table)}`;
  return row?.["n"];
}

shared(
  "withdrawals, rule 1: of 100 at once with one referenceId one is 201, 99 are 409, one pays",
  async (api) => {
    const shop = await busyShop(api, "5000");
    const request = { ...PAYOUT, referenceId: "one" };
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => shop.post("/api/withdrawals", request)),
    );
    const accepted = answers.filter(({ status }) => status === 201);
    assertEquals(accepted.length, 1);
    const id = accepted[0]?.body.withdrawalId;
    const refused = answers.filter(({ status }) => status === 409);
    assertEquals(refused.length, 99);
    for (const { body } of refused) {
      assertEquals([body.error, body.withdrawalId], ["Duplicate referenceId", id]);
    }
    assertEquals(await count(api, "book.withdrawal"), 1);
    assertEquals(await count(api, "book.outgoing"), 1, "one payout");
    assertEquals(await shop.balance(), ["4988", "0"]);
    assertEquals(await booksFaults(api.sql), []);
  },
);

test("withdrawals: of 200 at once against a balance for 50 exactly 50 are accepted", async () => {
  await using api = await testApi();
  const shop = await busyShop(api, "606");
  const watched: string[] = [];
  const watch = (async () => {
    for (let i = 0; i < 20; i++) watched.push((await shop.balance())[0]);
  })();
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => shop.post("/api/withdrawals", PAYOUT)),
  );
  await watch;
  const refused = answers.filter(({ status }) => status === 400);
  assertEquals(answers.filter(({ status }) => status === 201).length, 50);
  assertEquals(refused.length, 150);
  for (const { body } of refused) {
    assertEquals([body.error, body.requested], ["Insufficient balance", "12"]);
    assert(!body.available.startsWith("-"));
  }
  assert(watched.every((available) => !available.startsWith("-")), watched.join());
  assertEquals(await shop.balance(), ["6", "0"]);
  assertEquals(await count(api, "book.outgoing"), 50);
  assertEquals(await booksFaults(api.sql), []);
});

shared(
  "withdrawals, rule 2: a released referenceId is taken again by exactly one of many retries",
  async (api) => {
    const shop = await busyShop(api, "100");
    const request = { ...PAYOUT, referenceId: "again" };
    const first = await shop.post("/api/withdrawals", request);
    await endPayout(api, first.body.withdrawalId, "failed");
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => shop.post("/api/withdrawals", request)),
    );
    assertEquals(answers.filter(({ status }) => status === 201).length, 1);
    assertEquals(answers.filter(({ status }) => status === 409).length, 29);
    assertEquals(await shop.balance(), ["88", "0"]);
    assertEquals(await booksFaults(api.sql), []);
  },
);

shared(
  "approval: of approving, rejecting and cancelling at once one wins and money moves once",
  async (api) => {
    const reseller = await openReseller(api, "1000");
    for (let round = 0; round < 5; round++) {
      const { body } = await reseller.post("/api/withdrawals", PAYOUT);
      const id = body.withdrawalId;
      const [approved, rejected, cancelled] = await Promise.all([
        reseller.office.post(`/api/admin/withdrawals/${id}/approve`),
        reseller.office.post(`/api/admin/withdrawals/${id}/reject`, { reason: "race" }),
        reseller.post(`/api/withdrawals/${id}/cancel`),
      ]);
      const won = [approved, rejected, cancelled].filter(({ status }) => status === 200);
      assertEquals(won.length, 1, JSON.stringify([approved.body, rejected.body, cancelled.body]));
      const [payout] = await api.sql`SELECT 1 FROM book.outgoing WHERE payment_id = ${id}`;
      assertEquals(payout !== undefined, approved.status === 200);
    }
    assertEquals(await booksFaults(api.sql), []);
  },
);

shared("addresses: of 50 requests at once for one customer all answer one address", async (api) => {
  const shop = await busyShop(api, "1");
  const answers = await Promise.all(
    Array.from(
      { length: 50 },
      () => shop.post("/api/deposit-address", { network: "TRX", identifier: "same" }),
    ),
  );
  assertEquals(new Set(answers.map(({ status }) => status)), new Set([201]));
  assertEquals(new Set(answers.map(({ body }) => body.address)).size, 1);
  assertEquals(await issueAddress(shop, "same"), answers[0]?.body.address);
});

shared(
  "settlements: of 20 at once with one Idempotency-Key all answer one settlement",
  async (api) => {
    const shop = await busyShop(api, "1000");
    await whitelist(api, shop);
    const answers = await Promise.all(
      Array.from(
        { length: 20 },
        () => shop.post("/api/settlements", SETTLEMENT, { "idempotency-key": "k" }),
      ),
    );
    assertEquals(new Set(answers.map(({ status }) => status)), new Set([201]));
    assertEquals(new Set(answers.map(({ body }) => body.id)).size, 1);
    assertEquals(await shop.balance(), ["988", "0"]);
    assertEquals(await booksFaults(api.sql), []);
  },
);
