import { assertEquals } from "@std/assert";
import type { Committed } from "../../actors/journal/context.ts";
import { addMerchant, fund, openJournal, refundCommand, reserveCommand } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

testNeeding(DATABASE)(
  "every move of a payment is told once, after its commit: opened, credited, refunded",
  async () => {
    await using database = await testDatabase();
    const { sql } = database;
    const news: Committed[] = [];
    const journal = openJournal(sql, { onCommitted: (committed) => void news.push(committed) });
    const merchantId = await addMerchant(sql);
    await fund(sql, journal, merchantId, "100");
    const command = reserveCommand();
    assertEquals((await journal.ask(merchantId, command, 60_000)).kind, "done");
    const refund = refundCommand(command.withdrawalId);
    assertEquals((await journal.ask(merchantId, refund, 60_000)).kind, "done");
    // again: nothing moves
    await journal.ask(merchantId, refund, 60_000);
    await journal.stop(5_000);
    const told = news.flatMap(({ moves }) => moves).map(({ kind, status }) => `${kind} ${status}`);
    assertEquals(told, ["deposit CONFIRMED", "withdrawal PENDING", "withdrawal FAILED"]);
  },
);
