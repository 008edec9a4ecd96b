import { assertEquals } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import { createJournalStore, type JournalStore } from "../../ledger/journal/store.ts";
import { addMerchant, booksFaults, fund, openJournal, reserveCommand } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** A store that records what is read from it, and whose next write may fail. */
function recordingStore(
  sql: Sql,
): JournalStore & { readonly read: string[]; failure: (() => Promise<never>) | null } {
  const store = createJournalStore(sql);
  const read: string[] = [];
  return {
    ...store,
    read,
    failure: null,
    readSettings: () => {
      read.push("settings");
      return store.readSettings();
    },
    readAccounts: (ids) => {
      read.push(...ids);
      return store.readAccounts(ids);
    },
    writeBatch(...args) {
      const { failure } = this;
      this.failure = null;
      return failure === null ? store.writeBatch(...args) : failure();
    },
  };
}

test("what is remembered is read again once it was dropped, also while a batch is under way", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const store = recordingStore(sql);
  const journal = openJournal(sql, { store });
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "1000");
  const ask = () => journal.ask(merchantId, reserveCommand(), 60_000);
  store.read.length = 0;
  assertEquals((await ask()).kind, "done");
  assertEquals(store.read, []);

  journal.dropCaches();
  assertEquals((await ask()).kind, "done");
  assertEquals(store.read, ["settings", merchantId]);

  store.read.length = 0;
  const asked = ask();
  // the batch begins in this very turn of the event loop
  await new Promise((resolve) => setImmediate(resolve));
  journal.dropCaches();
  assertEquals((await asked).kind, "done");
  assertEquals((await ask()).kind, "done");
  assertEquals(store.read, ["settings", merchantId]);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("a lost connection drops what was remembered of all merchants", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const store = recordingStore(sql);
  const journal = openJournal(sql, { store });
  const [one, other] = [await addMerchant(sql), await addMerchant(sql)];
  for (const merchantId of [one, other]) await fund(sql, journal, merchantId, "1000");
  store.read.length = 0;
  store.failure = () =>
    Promise.reject(Object.assign(new Error("lost"), { code: "CONNECTION_CLOSED" }));
  assertEquals((await journal.ask(one, reserveCommand(), 60_000)).kind, "done");
  assertEquals((await journal.ask(other, reserveCommand(), 60_000)).kind, "done");
  assertEquals(store.read, ["settings", one, other]);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("a write that the server refused drops what was remembered of its merchants, and of no other", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const store = recordingStore(sql);
  const journal = openJournal(sql, { store });
  const [one, other] = [await addMerchant(sql), await addMerchant(sql)];
  for (const merchantId of [one, other]) await fund(sql, journal, merchantId, "1000");
  store.read.length = 0;
  store.failure = async () => {
    await sql.unsafe("DO $$ BEGIN RAISE EXCEPTION 'test' USING ERRCODE = '40P01'; END $$");
    throw new Error("Cannot go on as the server refused nothing");
  };
  assertEquals((await journal.ask(one, reserveCommand(), 60_000)).kind, "done");
  assertEquals((await journal.ask(other, reserveCommand(), 60_000)).kind, "done");
  assertEquals(store.read, [one]);
  await journal.stop(1_000);
});

test("a merchant that leaves memory while its batch is decided is still decided on", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql, { activeMerchants: 3 });
  const merchants = await Promise.all(Array.from({ length: 8 }, () => addMerchant(sql)));
  for (const merchantId of merchants) await fund(sql, journal, merchantId, "100");
  for (let round = 0; round < 3; round++) {
    const outcomes = await Promise.all(
      merchants.map((merchantId) => journal.ask(merchantId, reserveCommand(), 60_000)),
    );
    assertEquals(outcomes.map((outcome) => outcome.kind), merchants.map(() => "done"));
  }
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});
