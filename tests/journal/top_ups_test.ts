import { assert, assertEquals } from "@std/assert";
import type { Committed } from "../../actors/journal/context.ts";
import type { IssueAddress } from "../../actors/merchant/messages.ts";
import { newId } from "../../actors/runtime/ids.ts";
import { paymentActors } from "../../actors/payment/payment_actor.ts";
import { Timers } from "../../actors/runtime/timers.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { moveCursor } from "../../ledger/watcher/cursor.ts";
import {
  addMerchant,
  addTransfer,
  amount,
  booksFaults,
  openJournal,
  SOMEWHERE,
  until,
} from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

function topUpCommand(address = SOMEWHERE): IssueAddress {
  return {
    type: "issue-address",
    kind: "top_up",
    at: Date.now(),
    network: "TRX",
    identifier: null,
    referenceId: null,
    createOnly: false,
    fresh: { addressId: newId("adr"), address, index: 0 },
  };
}

/** A merchant whose top-up address is {@linkcode SOMEWHERE}, and whose customers pay 10 %. */
async function openAccount(sql: Sql) {
  const news: Committed[] = [];
  const journal = openJournal(sql, { onCommitted: (committed) => news.push(committed) });
  const merchantId = await addMerchant(sql, { rate: "0.1" });
  assertEquals((await journal.ask(merchantId, topUpCommand(), 60_000)).kind, "done");
  /** Waits until everything in the inbox is consumed. */
  const hear = async () => {
    journal.wake(merchantId);
    await until(async () => {
      const rows = await sql`SELECT 1 FROM book.inbox WHERE consumed_at IS NULL`;
      return rows.length === 0;
    });
  };
  return { journal, merchantId, news, hear };
}

async function addVanished(sql: Sql, merchantId: string, txid: string): Promise<void> {
  const data = sql.json({ reason: "expired", to: SOMEWHERE });
  await sql`
    INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
    VALUES (${merchantId}, 'TRX', ${txid}, 0, 'vanished', ${data})`;
}

/** Status, whether it may still vanish, and the balances. */
async function standing(sql: Sql): Promise<string> {
  const [row] = await sql`
    SELECT d.status || CASE WHEN d.expires_at IS NULL THEN ' final ' ELSE ' ' END
      || trim_scale(b.available) || ' / ' || trim_scale(b.pending) AS line
    FROM book.deposit d JOIN book.balance b USING (merchant_id, currency, network)`;
  return row?.["line"] as string;
}

test("a merchant has one top-up address per network, the same every time", async () => {
  await using database = await testDatabase();
  const { journal, merchantId } = await openAccount(database.sql);
  const again = await journal.ask(
    merchantId,
    topUpCommand("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"),
    5_000,
  );
  assert(again.kind === "done");
  assertEquals([again.value.address, again.value.created], [SOMEWHERE, false]);
  await journal.stop(1_000);
});

for (const phases of [["seen", "solid"], ["solid"], ["solid", "seen"]] as const) {
  test(`a top-up heard of as ${phases} waits for its sweep, on pending, without fees`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    const { journal, merchantId, hear } = await openAccount(sql);
    const txid = "c".repeat(64);
    for (const phase of phases) {
      await addTransfer(sql, merchantId, "100", { phase, txid });
      await hear();
    }
    // what a rescan writes again changes nothing
    await sql`UPDATE book.inbox SET consumed_at = NULL`;
    await hear();
    assertEquals(await standing(sql), "PENDING final 0 / 100");
    const [row] = await sql`
      SELECT source, trim_scale(commission)::text AS commission, trim_scale(commission_rate)::text AS rate,
        trim_scale(fixed_fee)::text AS fee, cleared_at FROM book.deposit`;
    assertEquals({ ...row }, {
      source: "top_up",
      commission: "0",
      rate: "0",
      fee: "0",
      cleared_at: null,
    });
    const [line] =
      await sql`SELECT status, trim_scale(effect)::text AS effect FROM book.transaction`;
    assertEquals({ ...line }, { status: "PENDING", effect: "0" });
    assertEquals((await sql`SELECT 1 FROM book.charge`).length, 0);
    assertEquals((await sql`SELECT 1 FROM book.outbox`).length, 0);
    assertEquals(await booksFaults(sql), []);
    await journal.stop(1_000);
  });
}

test("a top-up that is final is not given up, whatever a late expiry says", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { journal, merchantId, hear } = await openAccount(sql);
  const txid = await addTransfer(sql, merchantId, "100", { phase: "seen" });
  await hear();
  await addTransfer(sql, merchantId, "100", { phase: "solid", txid });
  // told before the merchant has heard that the transfer is final
  await addVanished(sql, merchantId, txid);
  await hear();
  assertEquals(await standing(sql), "PENDING final 0 / 100");
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("a top-up that never becomes final is given up like any deposit", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { journal, merchantId, hear } = await openAccount(sql);
  const txid = await addTransfer(sql, merchantId, "100", { phase: "seen" });
  await hear();
  assertEquals(await standing(sql), "PENDING 0 / 100");
  await addVanished(sql, merchantId, txid);
  await hear();
  assertEquals(await standing(sql), "FAILED 0 / 0");
  // final after all: the sweep will confirm it, until then it is not on pending
  await addTransfer(sql, merchantId, "100", { phase: "solid", txid });
  await hear();
  assertEquals(await standing(sql), "FAILED final 0 / 0");
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("the expiry timer leaves a final top-up alone and goes away", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { journal, merchantId, hear, news } = await openAccount(sql);
  const expiresAt = 1_000_000;
  const txid = await addTransfer(sql, merchantId, "100", { phase: "seen", expiresAt });
  await hear();
  const [watched] = news.flatMap((committed) => committed.pendingDeposits);
  assertEquals(watched?.expiresAt, expiresAt);
  const depositId = watched?.depositId ?? "";
  const timers = new Timers(sql, () => {});
  const { activate } = paymentActors({
    sql,
    timers,
    now: () => Date.now(),
    recheckMs: () => 1_000,
    wakeMerchant: () => {},
  });
  const actor = await activate(depositId);
  await actor.receive({ type: "watch-expiry", expiresAt });
  await addTransfer(sql, merchantId, "100", { phase: "solid", txid });
  await hear();
  // the solid chain is far past the expiry by now
  const block = {
    height: 9,
    hash: "h",
    time: expiresAt * 3,
    previousTime: expiresAt * 2,
    tick: expiresAt * 3,
    previousTick: expiresAt * 2,
  };
  await moveCursor(sql, "TRX", "solid", null, block);
  await actor.receive({ type: "timer", name: "expiry" });
  assertEquals((await sql`SELECT 1 FROM hub.timer`).length, 0);
  assertEquals((await sql`SELECT 1 FROM book.inbox WHERE phase = 'vanished'`).length, 0);
  assertEquals(await standing(sql), "PENDING final 0 / 100");
  // one that is first heard of when it is final needs no timer
  await addTransfer(sql, merchantId, "5", { phase: "solid" });
  await hear();
  assertEquals(news.flatMap((committed) => committed.pendingDeposits).length, 1);
  await journal.stop(1_000);
});

test("a deposit booked by hand is not linked to the merchant's own top-up address", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { journal, merchantId } = await openAccount(sql);
  const [row] = await sql`SELECT id FROM book.deposit_address`;
  const outcome = await journal.ask(merchantId, {
    type: "create-deposit",
    at: Date.now(),
    depositId: newId("dep"),
    transactionId: newId("txn"),
    currency: "USDT",
    network: "TRX",
    amount: amount("50"),
    source: "top_up",
    description: null,
    metadata: {},
    depositAddressId: row?.["id"],
    txid: null,
    usdRate: "1",
  }, 60_000);
  assert(outcome.kind === "refused" && outcome.refusal.code === "record_not_found");
  await journal.stop(1_000);
});
