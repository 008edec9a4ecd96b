import { assert, assertEquals } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import { commitSigned } from "../support/commit_signed.ts";
import { findOwnTransactions, recordOutcomes } from "../../ledger/watcher/record_outcomes.ts";
import {
  addMerchant,
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

async function available(sql: Sql, merchantId: string): Promise<string> {
  const [row] = await sql`
    SELECT trim_scale(available)::text AS a FROM book.balance WHERE merchant_id = ${merchantId}`;
  return row?.["a"] as string ?? "none";
}

async function house(sql: Sql, account: string): Promise<string> {
  const [row] = await sql`
    SELECT trim_scale(balance)::text AS b FROM book.system_total WHERE account = ${account}`;
  return row?.["b"] as string ?? "0";
}

test("a line that credits the merchant pays with the fee and takes it back with the refund", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await sql`UPDATE book.merchant SET margin_rate = 0.333, margin_beneficiary = merchant_id`;
  await fund(sql, journal, merchantId, "100");
  const command = reserveCommand();
  assertEquals((await journal.ask(merchantId, command, 60_000)).kind, "done");
  assertEquals(await available(sql, merchantId), "88.333");
  assertEquals(await house(sql, "commission"), "0.667");
  const released = await journal.ask(merchantId, refundCommand(command.withdrawalId), 60_000);
  assertEquals(released.kind, "done");
  assertEquals(await available(sql, merchantId), "100");
  assertEquals(await house(sql, "commission"), "0");
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("a reseller's share is held until the payment is final, then credited once", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  const reseller = await addMerchant(sql);
  await sql`
    UPDATE book.merchant SET margin_rate = 0.5, margin_beneficiary = ${reseller}
    WHERE merchant_id = ${merchantId}`;
  await fund(sql, journal, merchantId, "100");
  const [paid, refunded] = [reserveCommand(), reserveCommand()];
  for (const command of [paid, refunded]) {
    assertEquals((await journal.ask(merchantId, command, 60_000)).kind, "done");
  }
  assertEquals(await house(sql, "margin_held"), "1");
  assertEquals(await available(sql, reseller), "none");
  const released = await journal.ask(merchantId, refundCommand(refunded.withdrawalId), 60_000);
  assertEquals(released.kind, "done");
  assertEquals(await house(sql, "margin_held"), "0.5");
  const txid = "e".repeat(64);
  const { outgoingId } = paid;
  await commitSigned(sql, [
    { outgoingId, merchantId, network: "TRX", txid, bytes: "{}", expiresAt: Date.now() + 60_000 },
  ]);
  const [own] = await findOwnTransactions(sql, "TRX", [txid]);
  assert(own !== undefined);
  const outcome = { own, result: "paid", reason: null, height: 9, fee: amount("6") } as const;
  await recordOutcomes(sql, "TRX", [outcome]);
  journal.wake(merchantId);
  // the commit that releases it wakes the reseller's actor; nothing else does here
  await until(async () => await available(sql, reseller) === "0.5");
  assertEquals([await house(sql, "margin_held"), await house(sql, "margin_due")], ["0", "0"]);
  const [line] = await sql`
    SELECT type, category, status FROM book.transaction WHERE merchant_id = ${reseller}`;
  assertEquals({ ...line }, { type: "DEPOSIT", category: "Margin", status: "CONFIRMED" });
  const events = await sql<{ type: string; payload: string }[]>`
    SELECT type, payload FROM book.outbox WHERE merchant_id = ${reseller}`;
  assertEquals(events.map(({ type }) => type), ["transaction.confirmed"]);
  const { status, amount: told, balanceAfter } = JSON.parse(events[0]?.payload ?? "{}");
  assertEquals([status, told, balanceAfter], ["confirmed", "0.5", "0.5"]);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});
