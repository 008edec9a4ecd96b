import { assertEquals } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import { createJournalStore, type JournalStore } from "../../ledger/journal/store.ts";
import { addMerchant, booksFaults, fund, openJournal, reserveCommand } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** A store that notes what is read from it, and whose next write loses its connection if told so. */
function notingStore(sql: Sql): JournalStore & { readonly read: string[]; lose: boolean } {
  const store = createJournalStore(sql);
  const read: string[] = [];
  return {
    ...store,
    read,
    lose: false,
    readSettings: () => {
      read.push("settings");
      return store.readSettings();
    },
    readAccounts: (ids) => {
      read.push(...ids);
      return store.readAccounts(ids);
    },
    writeBatch(...args) {
      if (!this.lose) return store.writeBatch(...args);
      this.lose = false;
      throw Object.assign(new Error("lost"), { code: "CONNECTION_CLOSED" });
    },
  };
}

test("what is remembered is read again once it was dropped, also while a batch is under way", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const store = notingStore(sql);
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
  const store = notingStore(sql);
  const journal = openJournal(sql, { store });
  const [one, other] = [await addMerchant(sql), await addMerchant(sql)];
  for (const merchantId of [one, other]) await fund(sql, journal, merchantId, "1000");
  store.read.length = 0;
  store.lose = true;
  assertEquals((await journal.ask(one, reserveCommand(), 60_000)).kind, "done");
  assertEquals((await journal.ask(other, reserveCommand(), 60_000)).kind, "done");
  assertEquals(store.read, ["settings", one, other]);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});
