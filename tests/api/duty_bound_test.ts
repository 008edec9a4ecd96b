import { assertEquals, assertRejects } from "@std/assert";
import { amountOf } from "../../ledger/money/amount.ts";
import { storeDuties } from "../../ledger/platform_settings.ts";
import type { Duties } from "../../ledger/money/duties.ts";
import { type TestApi, testApi } from "../support/api.ts";
import { booksFaults, openJournal } from "../support/books.ts";
import {
  approve,
  book,
  bootstrap,
  confirm,
  installation,
  issue,
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
  // the keys of the other administrator's merchants count as that one: nobody else is left
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
