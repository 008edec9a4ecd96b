import { assertEquals } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { createJournalStore } from "../../ledger/journal/store.ts";
import {
  addMerchant,
  amount,
  booksFaults,
  fund,
  openJournal,
  reserveCommand,
  SOMEWHERE,
  until,
} from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** Tables that a withdrawal changes. */
const CHANGED = [
  "account",
  "balance",
  "system_balance",
  "system_delta",
  "entry",
  "withdrawal",
  "deposit",
  "transaction",
  "charge",
  "outgoing",
  "outbox",
  "list_bucket",
  "commit_log",
] as const;

/**
 * Remembers the books as they are. What is answered puts them back, as a standby does that takes
 * over without the last commits.
 */
async function standby(sql: Sql): Promise<() => Promise<void>> {
  const copy = `copy_${crypto.randomUUID().replaceAll("-", "")}`;
  await sql.unsafe(`CREATE SCHEMA ${copy}`);
  for (const table of CHANGED) {
    await sql.unsafe(`CREATE TABLE ${copy}.${table} AS TABLE book.${table}`);
  }
  return async () => {
    await sql.begin(async (tx) => {
      await tx`SET LOCAL session_replication_role = replica`;
      for (const table of CHANGED) {
        await tx.unsafe(`DELETE FROM book.${table}`);
        await tx.unsafe(`INSERT INTO book.${table} SELECT * FROM ${copy}.${table}`);
      }
    });
  };
}

test("a version that another history has reached again is not taken for the one that was read", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const first = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, first, merchantId, "100");
  const takeOver = await standby(sql);
  const lost = reserveCommand({ amount: amount("90") });
  assertEquals((await first.ask(merchantId, lost, 60_000)).kind, "done");
  const [before] = await sql`SELECT version FROM book.account`;

  await takeOver();
  const second = openJournal(sql);
  assertEquals((await second.ask(merchantId, reserveCommand(), 60_000)).kind, "done");
  const [after] = await sql`SELECT version FROM book.account`;
  assertEquals(after?.["version"], before?.["version"], "the version is reached again");

  // the first node remembers 10 where there are 90
  const big = reserveCommand({ amount: amount("50") });
  assertEquals((await first.ask(merchantId, big, 60_000)).kind, "done");
  for (const node of [second, first, second]) {
    assertEquals(
      (await node.ask(merchantId, reserveCommand({ amount: amount("1") }), 60_000)).kind,
      "done",
    );
  }
  const [row] = await sql`
    SELECT withdrawal_seq::int AS seq, (SELECT count(*)::int FROM book.withdrawal) AS rows,
      (SELECT trim_scale(available)::text FROM book.balance) AS available
    FROM book.account`;
  assertEquals({ ...row }, { seq: 5, rows: 5, available: "27" });
  assertEquals(await booksFaults(sql), []);
  await Promise.all([first.stop(1_000), second.stop(1_000)]);
});

test("a node that remembers other rows of the same version writes none of its numbers", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const first = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, first, merchantId, "100");
  const takeOver = await standby(sql);
  const lost = await first.ask(merchantId, {
    type: "create-deposit",
    at: Date.now(),
    depositId: newId("dep"),
    transactionId: newId("txn"),
    currency: "USDT",
    network: "TRX",
    amount: amount("7"),
    source: "bank",
    description: null,
    metadata: {},
    depositAddressId: null,
    txid: null,
    usdRate: "1",
  }, 60_000);
  assertEquals(lost.kind, "done");
  await takeOver();
  const second = openJournal(sql);
  assertEquals((await second.ask(merchantId, reserveCommand(), 60_000)).kind, "done");
  const outcome = await first.ask(merchantId, {
    type: "issue-address",
    at: Date.now(),
    kind: "issued",
    network: "TRX",
    identifier: "c1",
    referenceId: null,
    createOnly: false,
    fresh: { addressId: newId("adr"), address: SOMEWHERE, index: 1 },
  }, 60_000);
  assertEquals(outcome.kind, "done");
  const [row] = await sql`
    SELECT deposit_seq::int AS deposits, withdrawal_seq::int AS withdrawals FROM book.account`;
  assertEquals({ ...row }, { deposits: 1, withdrawals: 1 });
  for (const node of [first, second]) {
    assertEquals((await node.ask(merchantId, reserveCommand(), 60_000)).kind, "done");
  }
  assertEquals(await booksFaults(sql), []);
  await Promise.all([first.stop(1_000), second.stop(1_000)]);
});

test("an answer that changes nothing is not given from another history either", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const first = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, first, merchantId, "100");
  const takeOver = await standby(sql);
  const lost = reserveCommand({ referenceId: "order-1", amount: amount("90") });
  assertEquals((await first.ask(merchantId, lost, 60_000)).kind, "done");
  await takeOver();
  const second = openJournal(sql);
  assertEquals((await second.ask(merchantId, reserveCommand(), 60_000)).kind, "done");
  // the withdrawal that the first node remembers for this reference does not exist
  const again = reserveCommand({ referenceId: "order-1", amount: amount("50") });
  assertEquals((await first.ask(merchantId, again, 60_000)).kind, "done");
  assertEquals(await booksFaults(sql), []);
  await Promise.all([first.stop(1_000), second.stop(1_000)]);
});

test("an epoch of the settings is never reached again, whatever history was lost", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "500");
  await sql`CREATE TABLE kept AS TABLE book.setting`;
  await sql`UPDATE book.setting SET base_fee = 7`;
  const dear = await journal.ask(merchantId, reserveCommand(), 60_000);
  assertEquals(dear.kind === "done" && dear.value.fees.baseFee, amount("7"));
  // the change is lost with a failover, and another one is made in its place
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`DELETE FROM book.setting`;
    await tx`INSERT INTO book.setting SELECT * FROM kept`;
  });
  await sql`UPDATE book.setting SET base_fee = 3`;
  const cheap = await journal.ask(merchantId, reserveCommand(), 60_000);
  assertEquals(cheap.kind === "done" && cheap.value.fees.baseFee, amount("3"));
  await journal.stop(1_000);
});

test("a write that lands after its outcome was asked for, and before it is decided again, changes nothing", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const funding = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, funding, merchantId, "500");
  await funding.stop(1_000);
  const store = createJournalStore(sql);
  let late: (() => Promise<unknown>) | null = null;
  let lose = true;
  const journal = openJournal(sql, {
    store: {
      ...store,
      async writeBatch(...args) {
        if (lose) {
          lose = false;
          late = () => store.writeBatch(...args);
          throw Object.assign(new Error("lost"), { code: "CONNECTION_CLOSED" });
        }
        // the first write gets to the server just before the second one
        await late?.();
        late = null;
        return await store.writeBatch(...args);
      },
    },
  });
  assertEquals((await journal.ask(merchantId, reserveCommand(), 60_000)).kind, "done");
  const [row] = await sql`SELECT count(*)::int AS n FROM book.entry WHERE leg = 'reserve'`;
  assertEquals(row?.["n"], 1);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

for (const happens of [true, false]) {
  test(
    `a lost commit of a locked account keeps no other, and is answered when it ${
      happens ? "happened" : "did not happen"
    }`,
    async () => {
      await using database = await testDatabase();
      const { sql } = database;
      const funding = openJournal(sql);
      const [held, other] = [await addMerchant(sql), await addMerchant(sql)];
      for (const merchantId of [held, other]) await fund(sql, funding, merchantId, "500");
      await funding.stop(1_000);
      const store = createJournalStore(sql);
      const [locked, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let holding: Promise<unknown> = Promise.resolve();
      let lose = true;
      const journal = openJournal(sql, {
        store: {
          ...store,
          async writeBatch(...args) {
            if (!lose) return await store.writeBatch(...args);
            lose = false;
            if (happens) await store.writeBatch(...args);
            holding = sql.begin(async (tx) => {
              await tx`SELECT 1 FROM book.account WHERE merchant_id = ${held} FOR UPDATE`;
              locked.resolve();
              await free.promise;
            });
            await locked.promise;
            // what became of it is not to be seen either, as in the moment before a commit
            if (happens) await sql`UPDATE book.commit_log SET id = 'hidden-' || id`;
            throw Object.assign(new Error("lost"), { code: "CONNECTION_CLOSED" });
          },
        },
      });
      const command = reserveCommand({ referenceId: "once" });
      let answer: string | null = null;
      const asked = journal.ask(held, command, 60_000).then(({ kind }) => answer = kind);
      const next = journal.ask(held, reserveCommand({ amount: amount("400") }), 60_000);
      await locked.promise;
      assertEquals((await journal.ask(other, reserveCommand(), 60_000)).kind, "done");
      assertEquals([answer, journal.figures.paused], [null, 1]);
      if (happens) {
        await sql`UPDATE book.commit_log SET id = substr(id, 8) WHERE id LIKE 'hidden-%'`;
      }
      free.resolve();
      await holding;
      assertEquals(await asked, "done");
      assertEquals((await next).kind, "done");
      await until(() => journal.figures.paused === 0);
      assertEquals(journal.figures.messages, 3, "each is decided once");
      const [row] = await sql`
      SELECT count(*)::int AS n FROM book.withdrawal WHERE merchant_id = ${held}`;
      assertEquals(row?.["n"], 2);
      assertEquals(await booksFaults(sql), []);
      await journal.stop(1_000);
    },
  );
}

test("a commit that is resolved twice is fenced each time by a value of its own", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const store = createJournalStore(sql);
  const merchantId = await addMerchant(sql);
  const fences = new Set<string>();
  for (let turn = 0; turn < 3; turn++) {
    const { survivors, waiting } = await store.resolveCommit(newId("evt"), [merchantId]);
    assertEquals([survivors, waiting.size], [null, 0]);
    fences.add((await store.readAccounts([merchantId])).get(merchantId)?.lastCommit ?? "");
  }
  assertEquals(fences.size, 3);
});
