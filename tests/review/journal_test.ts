import { assert, assertEquals } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import { createJournalStore, type JournalStore } from "../../ledger/journal/store.ts";
import {
  addMerchant,
  addTransfer,
  amount,
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

test("a repeated reference is told as such also when the money is gone and the node has restarted", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const before = openJournal(sql);
  const [merchantId, poor] = [await addMerchant(sql), await addMerchant(sql)];
  await fund(sql, before, merchantId, "15");
  const first = reserveCommand({ referenceId: "order-1" });
  assertEquals((await before.ask(merchantId, first, 60_000)).kind, "done");
  await before.stop(1_000);

  const journal = openJournal(sql);
  const again = await journal.ask(merchantId, reserveCommand({ referenceId: "order-1" }), 60_000);
  assertEquals(again, {
    kind: "refused",
    refusal: { code: "reference_taken", withdrawalId: first.withdrawalId },
  });
  // what was learnt does not leak to other references, other merchants, or the treasury's word
  const other = await journal.ask(merchantId, reserveCommand({ referenceId: "order-2" }), 60_000);
  assert(other.kind === "refused" && other.refusal.code === "insufficient_balance");
  const elsewhere = await journal.ask(poor, reserveCommand({ referenceId: "order-1" }), 60_000);
  assert(elsewhere.kind === "refused" && elsewhere.refusal.code === "no_balance_row");
  await journal.stop(1_000);
});

test("a reference that an earlier message of the batch has freed is not told as taken", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const before = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, before, merchantId, "15");
  const first = reserveCommand({ referenceId: "order-1" });
  assertEquals((await before.ask(merchantId, first, 60_000)).kind, "done");
  await before.stop(1_000);
  const journal = openJournal(sql);
  const [released, again] = await Promise.all([
    journal.ask(merchantId, refundCommand(first.withdrawalId), 60_000),
    journal.ask(
      merchantId,
      reserveCommand({ referenceId: "order-1", amount: amount("100") }),
      5_000,
    ),
  ]);
  assertEquals(released.kind, "done");
  assert(again.kind === "refused" && again.refusal.code === "insufficient_balance");
  await journal.stop(1_000);
});

for (const [money, text] of [["enough", "10"], ["too little", "95"]] as const) {
  test(`a reference that a later message of the batch frees is taken for an earlier one, with ${money} money`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    const before = openJournal(sql);
    const merchantId = await addMerchant(sql);
    await fund(sql, before, merchantId, "100");
    const first = reserveCommand({ referenceId: "order-1" });
    assertEquals((await before.ask(merchantId, first, 60_000)).kind, "done");
    await before.stop(1_000);
    const journal = openJournal(sql);
    const [again, released] = await Promise.all([
      journal.ask(
        merchantId,
        reserveCommand({ referenceId: "order-1", amount: amount(text) }),
        5_000,
      ),
      journal.ask(merchantId, refundCommand(first.withdrawalId), 60_000),
    ]);
    assertEquals(again, {
      kind: "refused",
      refusal: { code: "reference_taken", withdrawalId: first.withdrawalId },
    });
    assertEquals(released.kind, "done");
    assertEquals(await booksFaults(sql), []);
    await journal.stop(1_000);
  });
}

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

test("a merchant whose row somebody holds does not stop the others", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchants = await Promise.all(Array.from({ length: 4 }, () => addMerchant(sql)));
  for (const merchantId of merchants) await fund(sql, journal, merchantId, "100");
  const [held = "", ...others] = merchants;
  const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = sql.begin(async (tx) => {
    await tx`SELECT 1 FROM book.account WHERE merchant_id = ${held} FOR UPDATE`;
    locked.resolve();
    await released.promise;
  });
  await locked.promise;
  const [first, ...rest] = await Promise.all(
    [held, ...others].map((merchantId, n) =>
      journal.ask(merchantId, reserveCommand(), n === 0 ? 1_000 : 20_000)
    ),
  );
  assertEquals(rest.map((outcome) => outcome.kind), others.map(() => "done"));
  assertEquals(first?.kind, "withdrawn");
  released.resolve();
  await holding;
  assertEquals((await journal.ask(held, reserveCommand(), 60_000)).kind, "done");
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("a merchant with a thousand transfers delays nobody else's", async () => {
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

test("two nodes that hear the same fact book it once, and neither takes it for broken", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const store = createJournalStore(sql);
  const merchantId = await addMerchant(sql);
  const first = openJournal(sql);
  const consumed = async () =>
    (await sql`SELECT 1 FROM book.inbox WHERE consumed_at IS NULL`).length === 0;
  const errors: unknown[] = [];
  let isSecond = true;
  const second = openJournal(sql, {
    store: {
      ...store,
      async readInbox(...args) {
        const rows = await store.readInbox(...args);
        if (isSecond) {
          // the other node is faster
          isSecond = false;
          first.wake(merchantId);
          await until(consumed);
        }
        return rows;
      },
      async writeBatch(...args) {
        try {
          return await store.writeBatch(...args);
        } catch (error) {
          errors.push(error);
          throw error;
        }
      },
    },
  });
  // the second node knows the merchant as it was before
  assertEquals((await second.ask(merchantId, reserveCommand(), 60_000)).kind, "refused");
  await addTransfer(sql, merchantId, "50");
  second.wake(merchantId);
  const outcome = await second.ask(merchantId, reserveCommand(), 60_000);
  assertEquals(outcome.kind, "done");
  assertEquals(errors, []);
  assertEquals(await booksFaults(sql), []);
  await Promise.all([first.stop(1_000), second.stop(1_000)]);
});
