import { assertEquals } from "@std/assert";
import { z } from "zod";
import type { DecideDeposit } from "../../actors/merchant/messages.ts";
import { newId } from "../../actors/runtime/ids.ts";
import { EVENT_PAYLOADS } from "../../api/callbacks/event_payloads.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { findOwnTransactions, recordOutcomes } from "../../ledger/watcher/record_outcomes.ts";
import { commitSigned } from "../support/commit_signed.ts";
import { isEventType } from "../../webhooks/events.ts";
import {
  addMerchant,
  addTransfer,
  amount,
  fund,
  openJournal,
  refundCommand,
  reserveCommand,
  until,
} from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const Line = z.object({
  transactionId: z.string(),
  transactionType: z.string(),
  amount: z.string(),
  fee: z.string(),
  balanceAfter: z.string(),
  eventId: z.string(),
});

/** Events in the order of their ids, each checked against the reference, lines in one line. */
async function told(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string; type: string; payload: string }[]>`
    SELECT id, type, payload FROM book.outbox ORDER BY id`;
  return rows.map(({ id, type, payload }) => {
    if (!isEventType(type)) throw new Error(`Cannot read an event as it is unknown: ${type}`);
    const body: unknown = JSON.parse(payload);
    EVENT_PAYLOADS[type].parse(body);
    assertEquals(z.object({ eventId: z.string() }).parse(body).eventId, id);
    if (!type.startsWith("transaction.")) return type;
    const line = Line.parse(body);
    return `${type} ${line.transactionType} ${line.amount} fee ${line.fee} after ${line.balanceAfter}`;
  });
}

async function settled(sql: Sql): Promise<boolean> {
  const rows = await sql`SELECT 1 FROM book.inbox WHERE consumed_at IS NULL`;
  return rows.length === 0;
}

test("every end of a payment makes two events, the line with the balance right after it", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql, { rate: "0.01" });
  await fund(sql, journal, merchantId, "100");
  const [given, paid] = [reserveCommand(), reserveCommand({ amount: amount("20") })];
  for (const command of [given, paid]) {
    assertEquals((await journal.ask(merchantId, command, 60_000)).kind, "done");
  }
  const released = await journal.ask(merchantId, refundCommand(given.withdrawalId), 60_000);
  assertEquals(released.kind, "done");
  const txid = "ab".repeat(32);
  const { outgoingId } = paid;
  const signed = { outgoingId, merchantId, txid, bytes: "{}", network: "TRX" } as const;
  await commitSigned(sql, [{ ...signed, expiresAt: Date.now() + 60_000 }]);
  const outcomes = (await findOwnTransactions(sql, "TRX", [txid])).map((own) => ({
    own,
    result: "paid" as const,
    reason: null,
    height: 9,
    fee: amount("6"),
  }));
  await recordOutcomes(sql, "TRX", outcomes);
  journal.wake(merchantId);
  await until(() => settled(sql));
  assertEquals(await told(sql), [
    "deposit.confirmed",
    "transaction.confirmed DEPOSIT 99 fee 1 after 99",
    "withdrawal.failed",
    // undone: 20 + 1 + 1 are still away
    "transaction.failed WITHDRAWAL 0 fee 2 after 77",
    "withdrawal.confirmed",
    "transaction.confirmed WITHDRAWAL -22 fee 2 after 77",
  ]);
  await journal.stop(1_000);
});

test("payments of one batch each tell the balance after themselves", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  for (const text of ["1", "2", "4"]) await addTransfer(sql, merchantId, text);
  journal.wake(merchantId);
  await until(() => settled(sql));
  assertEquals((await told(sql)).filter((line) => line.startsWith("transaction")), [
    "transaction.confirmed DEPOSIT 1 fee 0 after 1",
    "transaction.confirmed DEPOSIT 2 fee 0 after 3",
    "transaction.confirmed DEPOSIT 4 fee 0 after 7",
  ]);
  await journal.stop(1_000);
});

test("a small deposit makes one event that is never sent, a cancelled one makes none", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "0.99");
  const decisions: readonly DecideDeposit["to"][] = ["CANCELLED", "FAILED"];
  for (const to of decisions) {
    const depositId = newId("dep");
    const made = await journal.ask(merchantId, {
      type: "create-deposit",
      at: Date.now(),
      depositId,
      transactionId: newId("txn"),
      currency: "USDT",
      network: "TRX",
      amount: amount("50"),
      source: "bank",
      description: null,
      metadata: {},
      depositAddressId: null,
      txid: null,
      usdRate: "1",
    }, 60_000);
    assertEquals(made.kind, "done");
    const decided = await journal.ask(merchantId, {
      type: "decide-deposit",
      at: Date.now(),
      depositId,
      to,
      reason: "test",
      chargeIds: [newId("chg"), newId("chg")],
      eventIds: [newId("evt"), newId("evt")],
      ingestion: null,
    }, 60_000);
    assertEquals(decided.kind, "done");
  }
  assertEquals(await told(sql), [
    "deposit.confirmed",
    "deposit.failed",
    "transaction.failed DEPOSIT 0 fee 0 after 0.99",
  ]);
  await journal.stop(1_000);
});
