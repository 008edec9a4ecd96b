import { assertEquals, assertRejects } from "@std/assert";
import { amountOf } from "../../ledger/money/amount.ts";
import type { Duties } from "../../ledger/money/duties.ts";
import { storeDuties } from "../../ledger/duties.ts";
import { type TestApi, testApi } from "../support/api.ts";
import { booksFaults, openJournal, SOMEWHERE } from "../support/books.ts";
import {
  approve,
  book,
  bootstrap,
  confirm,
  installation,
  issue,
  keyIdOf,
  NOT_YOURS,
  settler,
} from "../support/duties.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const PERSONS: Duties = { fourEyes: "persons", aloneUpTo: amountOf("1000") };

const available = async (api: TestApi, key: string) =>
  (await api.call("GET", "/api/balance?currency=USDT&network=TRX", { key })).body.available;

/** Makes what was confirmed until now one of the day before. */
async function dayPasses(api: TestApi): Promise<void> {
  await api
    .sql`UPDATE book.deposit SET cleared_at = cleared_at - interval '25 hours' WHERE cleared_at IS NOT NULL`;
}

test("what one has endorsed another confirms, or the same one within the bound of another day", async () => {
  await using api = await installation(PERSONS);
  const [one, other] = [await bootstrap(api), await bootstrap(api)];
  const { key } = await api.addMerchant();
  const ids = [];
  for (let i = 0; i < 4; i++) ids.push(await book(api, key, "1000"));
  const [first = "", second = "", ...endorsed] = ids;
  assertEquals(await confirm(api, one.key, first), [200, "CONFIRMED"]);
  for (const id of ids.slice(1)) assertEquals(await confirm(api, one.key, id), [200, "PENDING"]);
  for (const id of ids.slice(1)) assertEquals(await confirm(api, one.key, id), [200, "PENDING"]);
  await dayPasses(api);
  await assertRejects(
    () =>
      api
        .sql`UPDATE book.deposit SET status = 'CONFIRMED', cleared_at = now(), approved_by = endorsed_by,
        approved_admin = endorsed_admin WHERE id = ${second}`,
    Error,
    "two administrators are needed",
  );
  assertEquals(await confirm(api, one.key, second), [200, "CONFIRMED"]);
  for (const id of endorsed) assertEquals(await confirm(api, one.key, id), [200, "PENDING"]);
  assertEquals(await available(api, key), "2000");
  await assertRejects(
    () =>
      api
        .sql`UPDATE book.deposit SET status = 'CONFIRMED', cleared_at = now(), approved_by = endorsed_by,
        approved_admin = endorsed_admin, endorsed_by = NULL, endorsed_admin = NULL
        WHERE id = ${endorsed[0] ?? ""}`,
    Error,
    "two administrators are needed",
  );
  for (const id of endorsed) assertEquals(await confirm(api, other.key, id), [200, "CONFIRMED"]);
  // two words are behind those: neither has used up what the other one alone may confirm
  assertEquals(await confirm(api, one.key, await book(api, key, "1")), [200, "PENDING"]);
  assertEquals(await confirm(api, other.key, await book(api, key, "1000")), [200, "CONFIRMED"]);
  assertEquals(await confirm(api, other.key, await book(api, key, "1")), [200, "PENDING"]);
  assertEquals(await booksFaults(api.sql), []);
});

test("a small deposit beyond the day's sum is confirmed by the same administrator on another day", async () => {
  await using api = await installation(PERSONS);
  const [one, maker] = [await bootstrap(api), await bootstrap(api)];
  const { id: merchantId } = await api.addMerchant();
  // deposits booked with this key count as booked by the administrator who issued it: only the
  // other administrator can confirm them
  const key = await issue(api, maker.key, `/api/merchants/${merchantId}/api-keys`, [
    "read",
    "write",
  ]);
  const [large, small] = [await book(api, key, "990"), await book(api, key, "20")];
  assertEquals(await confirm(api, one.key, large), [200, "CONFIRMED"]);
  assertEquals(await confirm(api, one.key, small), [200, "PENDING"]);
  await dayPasses(api);
  assertEquals(await confirm(api, maker.key, small), NOT_YOURS);
  assertEquals(await confirm(api, one.key, small), [200, "CONFIRMED"]);
  const [row] = await api.sql`
    SELECT approved_admin, endorsed_by, endorsed_admin FROM book.deposit WHERE id = ${small}`;
  assertEquals(row, { approved_admin: one.id, endorsed_by: null, endorsed_admin: null });
  // it is one word, so it counts in the sum of its day
  assertEquals(await confirm(api, one.key, await book(api, key, "980")), [200, "CONFIRMED"]);
  assertEquals(await confirm(api, one.key, await book(api, key, "1")), [200, "PENDING"]);
  assertEquals(await booksFaults(api.sql), []);
});

test("twelve deposits of the bound each are no more than the bound a day, also when endorsed before", async () => {
  await using api = await installation({ fourEyes: "persons", aloneUpTo: amountOf("10000") });
  const one = await bootstrap(api);
  const { key } = await api.addMerchant();
  const ids: string[] = [];
  for (let i = 0; i < 12; i++) ids.push(await book(api, key, "10000"));
  const ofToday = async () => {
    const [row] = await api.sql`
      SELECT coalesce(sum(amount), 0)::int AS sum FROM book.deposit
      WHERE status = 'CONFIRMED' AND cleared_at > now() - interval '24 hours'`;
    return row?.sum;
  };
  for (const id of ids) await confirm(api, one.key, id);
  assertEquals(await ofToday(), 10_000);
  await dayPasses(api);
  assertEquals(await ofToday(), 0);
  // all at once, and one after the other
  const answers = await Promise.all(ids.map((id) => confirm(api, one.key, id)));
  assertEquals(answers.map(([status]) => status), ids.map(() => 200));
  assertEquals(await ofToday(), 10_000);
  for (const id of ids) await confirm(api, one.key, id);
  assertEquals(await ofToday(), 10_000);
  assertEquals(await available(api, key), "20000");
  assertEquals(await booksFaults(api.sql), []);
});

test("the day's bound of one administrator holds over all nodes", async () => {
  await using api = await installation(PERSONS);
  const one = await bootstrap(api);
  const journals = [1, 2, 3].map(() => openJournal(api.sql));
  const nodes = await Promise.all(
    journals.map((journal) =>
      testApi({ duties: PERSONS, sql: api.sql, merchantsOf: () => journal })
    ),
  );
  try {
    const ids = [];
    for (let i = 0; i < 6; i++) ids.push(await book(api, (await api.addMerchant()).key, "600"));
    const answers = await Promise.all(
      ids.map((id, i) => confirm(nodes[i % nodes.length] ?? api, one.key, id)),
    );
    assertEquals(answers.map(([status]) => status), ids.map(() => 200));
    assertEquals(answers.filter(([, status]) => status === "CONFIRMED").length, 1);
    const [row] = await api.sql`
      SELECT count(*) FILTER (WHERE status = 'CONFIRMED')::int AS confirmed,
        count(*) FILTER (WHERE status = 'PENDING' AND endorsed_admin = ${one.id})::int AS endorsed
      FROM book.deposit`;
    assertEquals([row?.confirmed, row?.endorsed], [1, 5]);
    assertEquals(await booksFaults(api.sql), []);
  } finally {
    for (const journal of journals) await journal.stop(2_000);
    for (const node of nodes) await node[Symbol.asyncDispose]();
  }
});

test("a node with other rules than the database is told 403, or endorses; nothing is quarantined", async () => {
  await using api = await testApi({
    duties: { fourEyes: "off", aloneUpTo: amountOf("1000000") },
  });
  await storeDuties(api.sql, PERSONS, "aud_duties");
  await api.sql`UPDATE book.settlement_threshold SET amount = 10`;
  const [one, other] = [await bootstrap(api), await bootstrap(api)];
  const { id, key } = await settler(api);
  const large = await book(api, key, "5000");
  assertEquals(await confirm(api, one.key, large), [200, "PENDING"]);
  assertEquals(await confirm(api, one.key, large), NOT_YOURS);
  assertEquals(await confirm(api, other.key, large), [200, "CONFIRMED"]);
  const { body } = await api.call("POST", "/api/settlements", {
    key: one.key,
    body: {
      userId: id,
      currency: "USDT",
      requestedAmount: "50",
      destinationAddress: (await api.call("GET", "/api/settlement-addresses", { key })).body
        .settlementAddresses[0].address,
      destinationNetwork: "TRX",
    },
  });
  // in one batch with others of the merchant's, which are done
  const [refused, ...done] = await Promise.all([
    approve(api, one.key, body.id),
    book(api, key, "1"),
    book(api, key, "2"),
  ]);
  assertEquals(refused, NOT_YOURS);
  assertEquals(done.length, 2);
  const { audit } =
    (await api.call("GET", `/api/admin/audit?subject=${body.id}`, { key: one.key })).body;
  assertEquals(audit[0].refused, "same_administrator");
  assertEquals(api.journal.figures.quarantined, 0);
});

const ADMIN = { permissions: ["read", "write", "payout", "admin:read", "admin:write"] };
const SETTLEMENT = {
  currency: "USDT",
  requestedAmount: "50",
  destinationAddress: SOMEWHERE,
  destinationNetwork: "TRX",
};

const rotate = (api: TestApi, key: string, path: string, id: string) =>
  api.call("POST", `${path}/${id}/rotate`, { key, body: { overlapHours: 168 } });

/** The administrator that a key counts as, by the database. */
async function personOf(api: TestApi, key: string): Promise<string | null> {
  const [row] = await api.sql`
    SELECT administrator FROM hub.api_key WHERE id = ${await keyIdOf(api, key)}`;
  return row?.administrator ?? null;
}

test("an administrator's key is rotated by its own person and ended by others", async () => {
  await using api = await installation(PERSONS);
  const [one, other] = [await bootstrap(api), await bootstrap(api)];
  const path = "/api/admin/api-keys";
  const refused = await rotate(api, one.key, path, other.id);
  assertEquals([refused.status, refused.body.error], NOT_YOURS);
  assertEquals((await api.call("GET", path, { key: one.key })).body.apiKeys.length, 2);
  const { audit } =
    (await api.call("GET", `/api/admin/audit?subject=${other.id}`, { key: one.key })).body;
  assertEquals(audit[0].refused, "another_administrator");
  const own = await rotate(api, one.key, path, one.id);
  assertEquals(own.status, 201);
  assertEquals(await personOf(api, own.body.apiKey), one.id);
  const fresh = own.body.apiKey;
  // also what that one has made, over any number of steps
  const made = await issue(api, other.key, path, ["admin:read", "admin:write"]);
  assertEquals((await rotate(api, fresh, path, await keyIdOf(api, made))).status, 403);
  assertEquals((await rotate(api, other.key, path, await keyIdOf(api, made))).status, 201);
  assertEquals((await api.call("DELETE", `${path}/${other.id}`, { key: fresh })).status, 200);
});

test("a first key that names no person is still one person after it was rotated", async () => {
  await using api = await installation(PERSONS);
  const key = await api.addKey(null, ADMIN);
  const id = await keyIdOf(api, key);
  const { body } = await rotate(api, key, "/api/admin/api-keys", id);
  assertEquals(await personOf(api, body.apiKey), id);
  const { id: userId } = await settler(api);
  const made = await api.call("POST", "/api/settlements", { key, body: { ...SETTLEMENT, userId } });
  assertEquals(await approve(api, body.apiKey, made.body.id), NOT_YOURS);
});

test("a merchant's key that an administrator rotates counts as the one who knows it", async () => {
  await using api = await installation(PERSONS);
  const [one, other] = [await bootstrap(api), await bootstrap(api)];
  const { id, key: own } = await settler(api);
  const path = `/api/merchants/${id}/api-keys`;
  const ofOther = await issue(api, other.key, path, ["read", "write"]);
  assertEquals((await rotate(api, one.key, path, await keyIdOf(api, ofOther))).status, 403);
  const ofOne = await issue(api, one.key, path, ["read", "write"]);
  assertEquals((await rotate(api, ofOne, path, await keyIdOf(api, ofOther))).status, 403);
  // the merchant alone replaces its keys, and they stay whose they were
  const replaced = await rotate(api, own, path, await keyIdOf(api, ofOther));
  assertEquals(await personOf(api, replaced.body.apiKey), other.id);
  const spare = await api.addKey(id);
  const alone = await rotate(api, own, path, await keyIdOf(api, spare));
  assertEquals(await personOf(api, alone.body.apiKey), null);
  // a key without an administrator becomes that of the administrator who rotates it
  const known = await rotate(api, one.key, path, await keyIdOf(api, own));
  assertEquals(await personOf(api, known.body.apiKey), one.id);
  const deposit = await book(api, known.body.apiKey, "5");
  assertEquals(await confirm(api, one.key, deposit), NOT_YOURS);
  assertEquals(await confirm(api, other.key, deposit), [200, "CONFIRMED"]);
});
