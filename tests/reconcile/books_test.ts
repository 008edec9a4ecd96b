import { assert, assertEquals } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import { checkBooks } from "../../ledger/reconcile/check_books.ts";
import { commitSigned } from "../support/commit_signed.ts";
import { addMerchant, amount, fund, openJournal, reserveCommand } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** The rules that do not hold. */
async function broken(sql: Sql): Promise<string[]> {
  return (await checkBooks(sql)).filter(({ differences }) => differences.length > 0)
    .map(({ rule }) => rule);
}

/** Books with a deposit, a payout under way and a margin line. */
async function someBooks(sql: Sql): Promise<string> {
  const journal = openJournal(sql);
  const reseller = await addMerchant(sql);
  const merchantId = await addMerchant(sql, { rate: "0.01" });
  await sql`
    UPDATE book.merchant SET margin_rate = 0.5, margin_beneficiary = ${reseller}
    WHERE merchant_id = ${merchantId}`;
  await fund(sql, journal, merchantId, "100");
  const command = reserveCommand({ amount: amount("10") });
  assertEquals((await journal.ask(merchantId, command, 60_000)).kind, "done");
  await commitSigned(sql, [{
    outgoingId: command.outgoingId,
    merchantId,
    network: "TRX",
    txid: "ab".repeat(32),
    bytes: "{}",
    expiresAt: Date.now() + 60_000,
  }]);
  await journal.stop(1_000);
  return merchantId;
}

test("books that the journal wrote hold every rule", async () => {
  await using database = await testDatabase();
  await someBooks(database.sql);
  const results = await checkBooks(database.sql);
  assert(results.length >= 12);
  assertEquals(await broken(database.sql), []);
});

test("every kind of tampering is told", async (t) => {
  // what stands in the way of the hand that tampers is taken away first
  const guards = ["entry", "charge", "margin", "outgoing"].map((table) =>
    `ALTER TABLE book.${table} DISABLE TRIGGER USER`
  );
  const rows: readonly [string, string, readonly string[]][] = [
    [
      "more available than was posted",
      "UPDATE book.balance SET available = available + 1",
      [
        "balances are the sums of their entries",
        "every pair sums to zero",
        "statements add up to what is available",
      ],
    ],
    [
      "an entry that is gone",
      "DELETE FROM book.entry WHERE leg = 'commission'",
      [
        "balances are the sums of their entries",
        "own balances are the sums of all entries",
        "lines of the statement are those of their payments",
        "every charge is what was posted for it",
        "charges add up to what was posted for them",
        "deposits are what was posted for them",
      ],
    ],
    [
      "a fee account that is emptied",
      "DELETE FROM book.system_delta WHERE account = 'commission'",
      ["own balances are the sums of all entries", "every pair sums to zero"],
    ],
    [
      "a reserve that no payout needs",
      "UPDATE book.balance SET reserved = reserved - 1, available = available + 1 WHERE reserved > 0",
      [
        "balances are the sums of their entries",
        "statements add up to what is available",
        "reserved and pending are what open payments need",
      ],
    ],
    [
      "a payout to somebody else",
      "UPDATE book.outgoing SET destination = 'Tsomewhere'",
      ["withdrawals and their payouts tell the same story"],
    ],
    [
      "a deposit without its row",
      "DELETE FROM book.deposit",
      [
        "lines of the statement are those of their payments",
        "every final transfer is booked",
        "lists are numbered without gaps",
      ],
    ],
    [
      "a line that shows another status",
      "UPDATE book.transaction SET status = 'CONFIRMED' WHERE status = 'PENDING'",
      ["lines of the statement are those of their payments"],
    ],
    [
      "effects that are moved between lines",
      "UPDATE book.transaction SET effect = effect + CASE type WHEN 'DEPOSIT' THEN 3 ELSE -3 END WHERE seq IN (1, 2)",
      [
        "statements add up to what is available",
        "lines of the statement are those of their payments",
      ],
    ],
    [
      "a charge of another type",
      "UPDATE book.charge SET type = 'NETWORK_FEE' WHERE type = 'WITHDRAWAL_COMMISSION'",
      [
        "every charge is what was posted for it",
        "charges add up to what was posted for them",
      ],
    ],
    [
      "a count of a bucket that is not full",
      "INSERT INTO book.list_bucket SELECT merchant_id, 'withdrawal', 0, 'USDT', 'TRX', 'PENDING', '', 1, 0 FROM book.withdrawal LIMIT 1",
      ["kept counts and sums are those of the lists"],
    ],
    [
      "an event that nobody counted",
      "UPDATE book.event_delta SET count = count + 1",
      ["kept counts of events are those of the events"],
    ],
    [
      "a charge that is gone",
      "DELETE FROM book.charge WHERE seq = (SELECT max(seq) FROM book.charge)",
      ["charges add up to what was posted for them", "lists are numbered without gaps"],
    ],
    [
      "a withdrawal whose line is another's",
      "UPDATE book.transaction SET payment_id = 'dep_other' WHERE type = 'WITHDRAWAL'",
      [
        "lines of the statement are those of their payments",
        "every withdrawal has its line",
      ],
    ],
    [
      "an older deposit of another amount",
      "UPDATE book.deposit SET amount = amount + 1",
      ["deposits are what was posted for them"],
    ],
    [
      "a margin that is larger",
      "UPDATE book.margin SET earned = earned + 1",
      ["margins per day are those of the margins"],
    ],
  ];
  await using database = await testDatabase({ max: 1 });
  const { sql } = database;
  await someBooks(sql);
  for (const guard of guards) await sql.unsafe(guard);
  for (const [name, tampering, rules] of rows) {
    await t.step(name, async () => {
      class Undo extends Error {}
      await sql.begin(async (tx) => {
        await tx.unsafe(tampering);
        // the product's own function, inside this transaction
        const inside = { begin: (_mode: string, work: (sql: typeof tx) => unknown) => work(tx) };
        const results = await checkBooks(Object.assign(Object.create(null), inside));
        const told = results.filter(({ differences }) => differences.length > 0)
          .map(({ rule }) => rule);
        assertEquals(told, rules);
        throw new Undo();
      }).catch((error: unknown) => {
        if (!(error instanceof Undo)) throw error;
      });
    });
  }
  assertEquals(await broken(sql), []);
});
