import { assertEquals } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import { createJournalStore } from "../../ledger/journal/store.ts";
import {
  addMerchant,
  addTransfer,
  booksFaults,
  openJournal,
  reserveCommand,
  SOMEWHERE,
  until,
} from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

async function consumed(sql: Sql): Promise<boolean> {
  const [row] = await sql`SELECT count(*) FROM book.inbox WHERE consumed_at IS NULL`;
  return row?.["count"] === "0";
}

async function addAddress(sql: Sql, merchantId: string): Promise<void> {
  await sql`
    INSERT INTO book.deposit_address (id, merchant_id, network, address, wallet_index, kind, identifier, created_at)
    VALUES ('adr_test', ${merchantId}, 'TRX', ${SOMEWHERE}, 0, 'issued', 'customer', now())`;
}

async function statement(sql: Sql): Promise<string[]> {
  const rows = await sql`
    SELECT d.status || ' ' || trim_scale(d.amount) || ' commission ' || trim_scale(d.commission)
      || ' fee ' || trim_scale(d.fixed_fee) || ' effect ' || trim_scale(t.effect) AS line
    FROM book.deposit d JOIN book.transaction t ON t.merchant_id = d.merchant_id AND t.seq = d.transaction_seq
    ORDER BY d.seq`;
  return rows.map((row) => row["line"] as string);
}

async function balance(sql: Sql): Promise<string> {
  const [row] = await sql`
    SELECT trim_scale(available) || ' / ' || trim_scale(pending) AS line FROM book.balance`;
  return row?.["line"] as string;
}

test("a transfer is pending when seen and available net of fees when final", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql, { rate: "0.01" });
  await addAddress(sql, merchantId);
  const txid = await addTransfer(sql, merchantId, "100", { phase: "seen" });
  journal.wake(merchantId);
  await until(() => consumed(sql));
  assertEquals(await statement(sql), ["PENDING 100 commission 0 fee 0 effect 0"]);
  assertEquals(await balance(sql), "0 / 100");
  await addTransfer(sql, merchantId, "100", { phase: "solid", txid });
  journal.wake(merchantId);
  await until(() => consumed(sql));
  assertEquals(await statement(sql), ["CONFIRMED 100 commission 1 fee 0.5 effect 98.5"]);
  assertEquals(await balance(sql), "98.5 / 0");
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("a deposit is charged at the rates of its first sight, whatever holds when it is final", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await addMerchant(sql, { rate: "0.01" });
  await addAddress(sql, merchantId);
  const first = openJournal(sql, { usdRate: () => "0.5" });
  // worth 50 and 0.75 dollars
  const txids = [
    await addTransfer(sql, merchantId, "100", { phase: "seen" }),
    await addTransfer(sql, merchantId, "1.5", { phase: "seen", to: "another" }),
  ];
  first.wake(merchantId);
  await until(() => consumed(sql));
  await first.stop(1_000);
  await sql`UPDATE book.merchant SET deposit_commission_rate = 0.2 WHERE merchant_id = ${merchantId}`;
  const later = openJournal(sql, { usdRate: () => "1" });
  await addTransfer(sql, merchantId, "100", { phase: "solid", txid: txids[0] ?? "" });
  await addTransfer(sql, merchantId, "1.5", {
    phase: "solid",
    txid: txids[1] ?? "",
    to: "another",
  });
  later.wake(merchantId);
  await until(() => consumed(sql));
  assertEquals(await statement(sql), [
    "CONFIRMED 100 commission 1 fee 0.5 effect 98.5",
    "CONFIRMED 1.5 commission 0 fee 0 effect 1.5",
  ]);
  assertEquals(await booksFaults(sql), []);
  await later.stop(1_000);
});

test("only the first deposit that is not exempt pays the activation fee", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql, { rate: "0.01" });
  await addAddress(sql, merchantId);
  for (const text of ["0.999999", "0.4", "1", "2"]) {
    await addTransfer(sql, merchantId, text);
    journal.wake(merchantId);
    await until(() => consumed(sql));
  }
  assertEquals(await statement(sql), [
    "CONFIRMED 0.999999 commission 0 fee 0 effect 0.999999",
    "CONFIRMED 0.4 commission 0 fee 0 effect 0.4",
    "CONFIRMED 1 commission 0.01 fee 0.5 effect 0.49",
    "CONFIRMED 2 commission 0.02 fee 0 effect 1.98",
  ]);
  const events = await sql`SELECT type, last_outcome AS reason FROM book.outbox ORDER BY id`;
  assertEquals(events.map(({ type, reason }) => [type, reason]), [
    ["deposit.confirmed", "under_1_usd"],
    ["deposit.confirmed", "under_1_usd"],
    ["deposit.confirmed", null],
    ["transaction.confirmed", null],
    ["deposit.confirmed", null],
    ["transaction.confirmed", null],
  ]);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("a transfer heard of any number of times, in any order, is credited once", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  const txid = await addTransfer(sql, merchantId, "5", { phase: "solid" });
  await addTransfer(sql, merchantId, "5", { phase: "seen", txid });
  journal.wake(merchantId);
  await until(() => consumed(sql));
  // a rescan writes the row again after it was consumed and lost
  await sql`UPDATE book.inbox SET consumed_at = NULL`;
  journal.wake(merchantId);
  await until(() => consumed(sql));
  assertEquals(await balance(sql), "5 / 0");
  await addTransfer(sql, merchantId, "3", { phase: "solid", txid, logIndex: 1 });
  journal.wake(merchantId);
  await until(() => consumed(sql));
  assertEquals(await balance(sql), "8 / 0");
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("a deposit given up for dead is credited after all when its transfer becomes final", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql, { rate: "0.1" });
  await addAddress(sql, merchantId);
  const txid = await addTransfer(sql, merchantId, "10", { phase: "seen" });
  await sql`
    INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
    VALUES (${merchantId}, 'TRX', ${txid}, 0, 'vanished', ${
    sql.json({ reason: "expired", to: SOMEWHERE })
  })`;
  journal.wake(merchantId);
  await until(() => consumed(sql));
  assertEquals(await statement(sql), ["FAILED 10 commission 0 fee 0 effect 0"]);
  assertEquals(await balance(sql), "0 / 0");
  await addTransfer(sql, merchantId, "10", { phase: "solid", txid });
  journal.wake(merchantId);
  await until(() => consumed(sql));
  assertEquals(await statement(sql), ["CONFIRMED 10 commission 1 fee 0.5 effect 8.5"]);
  const events = await sql`SELECT type FROM book.outbox ORDER BY id`;
  assertEquals(events.map((event) => event["type"]), [
    "deposit.failed",
    "transaction.failed",
    "deposit.confirmed",
    "transaction.confirmed",
  ]);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("a transfer of a disabled pair is kept in quarantine and not lost", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await addTransfer(sql, merchantId, "5", { network: "ETH" });
  journal.wake(merchantId);
  await until(async () => {
    const [row] = await sql`SELECT quarantine FROM book.inbox`;
    return row?.["quarantine"] !== null;
  });
  const [row] = await sql`SELECT quarantine, consumed_at FROM book.inbox`;
  assertEquals(row?.["consumed_at"], null);
  assertEquals(await sql`SELECT 1 FROM book.deposit`.then((rows) => rows.length), 0);
  await journal.stop(1_000);
});

test("a transfer whose amount a reorganisation has changed is credited as it became final", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  for (const [seen, solid] of [["10", "9.5"], ["3", "4"]] as const) {
    const txid = await addTransfer(sql, merchantId, seen, { phase: "seen" });
    journal.wake(merchantId);
    await until(async () => {
      const rows = await sql`SELECT 1 FROM book.deposit WHERE txid = ${txid}`;
      return rows.length === 1;
    });
    await addTransfer(sql, merchantId, solid, { phase: "solid", txid });
    journal.wake(merchantId);
    await until(async () => {
      const rows = await sql`
        SELECT 1 FROM book.inbox
        WHERE txid = ${txid} AND phase = 'solid' AND consumed_at IS NULL AND quarantine IS NULL`;
      return rows.length === 0;
    });
  }
  assertEquals(await balance(sql), "13.5 / 0");
  const rows =
    await sql`SELECT trim_scale(amount)::text AS a, status FROM book.deposit ORDER BY seq`;
  assertEquals(rows.map((row) => `${row["a"]} ${row["status"]}`), ["9.5 CONFIRMED", "4 CONFIRMED"]);
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
