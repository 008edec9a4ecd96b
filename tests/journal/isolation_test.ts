import { assert, assertEquals } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import { createJournalStore, type JournalStore } from "../../ledger/journal/store.ts";
import {
  addMerchant,
  addTransfer,
  booksFaults,
  fund,
  openJournal,
  refundCommand,
  reserveCommand,
  until,
} from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** An error of the database's own, as a NUL in a parameter causes. */
async function dataError(sql: Sql): Promise<never> {
  await sql`SELECT ${"\0"}::text`;
  throw new Error("Cannot go on as a NUL was accepted");
}

/** Failures for one merchant, and for a batch that it is part of. */
const FAULTS: readonly {
  readonly what: string;
  readonly of: (sql: Sql, store: JournalStore, poisoned: string) => Partial<JournalStore>;
}[] = [
  {
    what: "the records its message names cannot be read",
    of: (sql, store, poisoned) => ({
      readRecords: (needs) =>
        needs.withdrawals.some(({ merchantId }) => merchantId === poisoned)
          ? dataError(sql)
          : store.readRecords(needs),
    }),
  },
  {
    what: "its account cannot be read",
    of: (sql, store, poisoned) => ({
      readAccounts: (ids) => ids.includes(poisoned) ? dataError(sql) : store.readAccounts(ids),
    }),
  },
  {
    what: "the references it wants cannot be read",
    of: (sql, store, poisoned) => ({
      readRecords: (needs) =>
        needs.references.some(({ merchantId }) => merchantId === poisoned)
          ? dataError(sql)
          : store.readRecords(needs),
    }),
  },
  {
    what: "its state cannot be compared",
    of: (sql, store, poisoned) => ({
      checkVersions: (epoch, accounts) =>
        accounts.some(({ merchantId }) => merchantId === poisoned)
          ? dataError(sql)
          : store.checkVersions(epoch, accounts),
      // a batch that writes compares in its write
      writeBatch: (id, epoch, changes) =>
        changes.some(({ account }) => account.merchantId === poisoned)
          ? dataError(sql)
          : store.writeBatch(id, epoch, changes),
    }),
  },
  {
    what: "deciding on it throws outside of any message",
    of: (_sql, store, poisoned) => ({
      readRecords: async (needs) => {
        const records = await store.readRecords(needs);
        if (!needs.withdrawals.some(({ merchantId }) => merchantId === poisoned)) return records;
        return new Proxy(records, {
          get() {
            throw new TypeError("Cannot decide");
          },
        });
      },
    }),
  },
];

for (const { what, of } of FAULTS) {
  test(`one merchant of fifty-one: ${what}, and all others are done in one go`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    const funding = openJournal(sql);
    const merchants = await Promise.all(Array.from({ length: 51 }, () => addMerchant(sql)));
    const [poisoned = "", ...others] = merchants;
    for (const merchantId of others) await addTransfer(sql, merchantId, "1000");
    await funding.wakeAll();
    await fund(sql, funding, others[0] ?? "", "5");
    await funding.stop(10_000);
    const store = createJournalStore(sql);
    const journal = openJournal(sql, { store: { ...store, ...of(sql, store, poisoned) } });
    const bad = [
      journal.ask(poisoned, refundCommand("wd_none"), 60_000),
      journal.ask(poisoned, reserveCommand({ referenceId: "r" }), 60_000),
    ];
    const outcomes = await Promise.all(
      others.map((merchantId) => journal.ask(merchantId, reserveCommand(), 60_000)),
    );
    assertEquals(outcomes.map(({ kind }) => kind), others.map(() => "done"));
    const kinds = (await Promise.all(bad)).map(({ kind }) => kind);
    assert(kinds.includes("failed"), `${kinds}`);
    assert(kinds.every((kind) => kind === "failed" || kind === "refused"), `${kinds}`);
    assert(journal.figures.quarantined > 0);
    assertEquals(journal.figures.givenUp, 0);
    assertEquals(await booksFaults(sql), []);
    await journal.stop(1_000);
  });
}

test("an inbox that cannot be read stops its merchant's chain events alone", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const [poisoned, other] = [await addMerchant(sql), await addMerchant(sql)];
  const store = createJournalStore(sql);
  const journal = openJournal(sql, {
    store: {
      ...store,
      readInbox: (ids, share) =>
        ids.includes(poisoned) ? dataError(sql) : store.readInbox(ids, share),
    },
  });
  const kept = await addTransfer(sql, poisoned, "7");
  journal.wake(poisoned);
  await fund(sql, journal, other, "100");
  assertEquals((await journal.ask(other, reserveCommand(), 60_000)).kind, "done");
  assertEquals((await journal.ask(poisoned, reserveCommand(), 60_000)).kind, "refused");
  const [row] = await sql`SELECT consumed_at, quarantine FROM book.inbox WHERE txid = ${kept}`;
  assertEquals([row?.["consumed_at"], row?.["quarantine"]], [null, null]);
  assertEquals(journal.figures.givenUp, 0);
  await journal.stop(1_000);
});

test("settings that cannot be read are no message's fault: batches are given up, counted, and nothing is quarantined", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await addMerchant(sql);
  const store = createJournalStore(sql);
  let broken = true;
  const journal = openJournal(sql, {
    store: { ...store, readSettings: () => broken ? dataError(sql) : store.readSettings() },
  });
  const txid = await addTransfer(sql, merchantId, "100");
  journal.wake(merchantId);
  assertEquals((await journal.ask(merchantId, reserveCommand(), 60_000)).kind, "failed");
  assert(journal.figures.givenUp > 0);
  assert((journal.givenUpMs ?? Infinity) < 60_000);
  const [row] = await sql`SELECT quarantine FROM book.inbox WHERE txid = ${txid}`;
  assertEquals(row?.["quarantine"], null);
  broken = false;
  await fund(sql, journal, merchantId, "5");
  assertEquals((await journal.ask(merchantId, reserveCommand(), 60_000)).kind, "done");
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("a read that takes its connection down every time is given up, while others are answered", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const [poisoned, other] = [await addMerchant(sql), await addMerchant(sql)];
  const store = createJournalStore(sql);
  const journal = openJournal(sql, {
    store: {
      ...store,
      readAccounts: (ids) => {
        if (!ids.includes(poisoned)) return store.readAccounts(ids);
        throw Object.assign(new Error("lost"), { code: "CONNECTION_CLOSED" });
      },
    },
  });
  const [bad, good] = await Promise.all([
    journal.ask(poisoned, reserveCommand(), 60_000),
    journal.ask(other, reserveCommand(), 60_000),
  ]);
  assertEquals([bad.kind, good.kind], ["failed", "refused"]);
  await journal.stop(1_000);
});

/** A store whose first writes the server refuses with a code of its own. */
function failingStore(sql: Sql, code: string, times: number): JournalStore {
  const store = createJournalStore(sql);
  let left = times;
  return {
    ...store,
    async writeBatch(...args) {
      if (left-- > 0) {
        await sql.unsafe(`DO $$ BEGIN RAISE EXCEPTION 'test' USING ERRCODE = '${code}'; END $$`);
      }
      return await store.writeBatch(...args);
    },
  };
}

// a deadlock, a statement that took too long, a full disk
for (const code of ["40P01", "57014", "53100"]) {
  test(`what the server refuses for its own reasons (${code}) quarantines no event`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    const merchantId = await addMerchant(sql);
    const journal = openJournal(sql, { store: failingStore(sql, code, 4) });
    const txid = await addTransfer(sql, merchantId, "5");
    const sweep = setInterval(() => journal.wake(merchantId), 20);
    try {
      await until(async () => {
        const [row] =
          await sql`SELECT quarantine, consumed_at FROM book.inbox WHERE txid = ${txid}`;
        assertEquals(row?.["quarantine"], null);
        return row?.["consumed_at"] !== null;
      });
    } finally {
      clearInterval(sweep);
    }
    assertEquals(await booksFaults(sql), []);
    await journal.stop(1_000);
  });
}

test("a merchant with a thousand transfers delays no other merchant's", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const store = createJournalStore(sql);
  const [crowded, calm] = [await addMerchant(sql), await addMerchant(sql)];
  const txids = Array.from({ length: 1_200 }, (_, n) => n.toString(16).padStart(64, "0"));
  await sql`
    INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
    SELECT ${crowded}, 'TRX', txid, 0, 'solid', ${
    sql.json({
      currency: "USDT",
      amount: "5",
      from: "somebody",
      to: "customer",
      addressId: "adr_test",
      height: 7,
      diesAfter: 1,
      expiresAt: 1,
    })
  } FROM unnest(${txids}::text[]) AS txid`;
  const first = await addTransfer(sql, calm, "5");
  const batches: number[] = [];
  let waited = false;
  const journal = openJournal(sql, {
    store: {
      ...store,
      async writeBatch(...args) {
        batches.push(args[2].flatMap(({ once }) => once.consumed).length);
        const misses = await store.writeBatch(...args);
        if (batches.length > 1) return misses;
        const [row] = await sql`SELECT consumed_at FROM book.inbox WHERE txid = ${first}`;
        waited = row?.["consumed_at"] === null;
        return misses;
      },
    },
  });
  journal.wake(crowded);
  journal.wake(calm);
  await until(async () => {
    const rows = await sql`SELECT 1 FROM book.inbox WHERE consumed_at IS NULL`;
    return rows.length === 0;
  });
  assertEquals(waited, false);
  assert(Math.max(...batches) <= 500);
  const [row] = await sql`SELECT count(*) FROM book.deposit WHERE status = 'CONFIRMED'`;
  assertEquals(row?.["count"], "1201");
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});
