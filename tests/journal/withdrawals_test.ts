import { assert, assertEquals } from "@std/assert";
import { formatAmount } from "../../ledger/money/amount.ts";
import {
  addMerchant,
  amount,
  booksFaults,
  fund,
  openJournal,
  reserveCommand,
} from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("a withdrawal reserves its amount and charges its fees in one commit", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "100");
  const command = reserveCommand({ amount: amount("10"), referenceId: "order-1" });
  const outcome = await journal.ask(merchantId, command, 60_000);
  assert(outcome.kind === "done");
  assertEquals(formatAmount(outcome.value.fees.grossAmount), "12");
  const [balance] = await sql`SELECT available, reserved FROM book.balance`;
  assertEquals(balance?.["available"], "88.000000000000000000");
  assertEquals(balance?.["reserved"], "10.000000000000000000");
  const [outgoing] = await sql`SELECT status, amount, destination FROM book.outgoing`;
  assertEquals(outgoing?.["status"], "queued");
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("of 100 withdrawals with one reference exactly one is accepted", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "10000");
  const outcomes = await Promise.all(
    Array.from(
      { length: 100 },
      () => journal.ask(merchantId, reserveCommand({ referenceId: "one" }), 60_000),
    ),
  );
  assertEquals(outcomes.filter((outcome) => outcome.kind === "done").length, 1);
  const refused = outcomes.filter((outcome) =>
    outcome.kind === "refused" && outcome.refusal.code === "reference_taken"
  );
  assertEquals(refused.length, 99);
  const [row] = await sql`SELECT count(*) FROM book.outgoing`;
  assertEquals(row?.["count"], "1");
  await journal.stop(1_000);
});

test("a reference is still taken after a restart", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const first = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, first, merchantId, "1000");
  const taken = await first.ask(merchantId, reserveCommand({ referenceId: "again" }), 60_000);
  assert(taken.kind === "done");
  await first.stop(1_000);
  const second = openJournal(sql);
  const outcome = await second.ask(merchantId, reserveCommand({ referenceId: "again" }), 60_000);
  assert(outcome.kind === "refused" && outcome.refusal.code === "reference_taken");
  assertEquals(outcome.refusal.withdrawalId, taken.value.withdrawalId);
  await second.stop(1_000);
});

test("of 200 withdrawals against a balance for 50 exactly 50 are accepted", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "600");
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, () => journal.ask(merchantId, reserveCommand(), 60_000)),
  );
  assertEquals(outcomes.filter((outcome) => outcome.kind === "done").length, 50);
  assertEquals(outcomes.filter((outcome) => outcome.kind === "refused").length, 150);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("two writers of one merchant: every withdrawal is decided on current money", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const here = openJournal(sql);
  const there = openJournal(database.connect({ max: 2 }));
  const merchantId = await addMerchant(sql);
  await fund(sql, here, merchantId, "600");
  const ask = async (journal: typeof here) => {
    for (;;) {
      const outcome = await journal.ask(merchantId, reserveCommand(), 60_000);
      if (outcome.kind !== "overloaded") return outcome;
    }
  };
  const outcomes = await Promise.all(
    Array.from({ length: 100 }, (_, n) => ask(n % 2 === 0 ? here : there)),
  );
  assertEquals(outcomes.filter((outcome) => outcome.kind === "done").length, 50);
  assertEquals(await booksFaults(sql), []);
  await here.stop(1_000);
  await there.stop(1_000);
});
