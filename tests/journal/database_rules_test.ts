import { assertEquals, assertRejects } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import { TRANSITIONS } from "../../ledger/money/transitions.ts";
import { addMerchant, fund, openJournal, reserveCommand } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

async function withdrawalMade(sql: Sql): Promise<string> {
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "100");
  await journal.ask(merchantId, reserveCommand({ referenceId: "r" }), 60_000);
  await journal.stop(1_000);
  return merchantId;
}

test("the database knows the same transitions as the code", async () => {
  await using database = await testDatabase();
  const rows = await database.sql<{ record: string; from_status: string; to_status: string }[]>`
    SELECT * FROM book.transition`;
  const kept = rows.map((row) => `${row.record} ${row.from_status} ${row.to_status}`).sort();
  const coded = Object.entries(TRANSITIONS).flatMap(([record, moves]) =>
    Object.entries(moves).flatMap(([from, tos]) =>
      (tos as readonly string[]).map((to) => `${record} ${from} ${to}`)
    )
  ).sort();
  assertEquals(kept, coded);
});

test("entries and charges are written once, attempts and events keep their bytes", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await withdrawalMade(sql);
  await assertRejects(() => sql`UPDATE book.entry SET amount = amount + 1`, Error, "written once");
  await assertRejects(() => sql`DELETE FROM book.entry`, Error, "written once");
  await assertRejects(() => sql`TRUNCATE book.entry`, Error, "written once");
  await assertRejects(() => sql`UPDATE book.charge SET amount = 5`, Error, "written once");
  await assertRejects(
    () => sql`UPDATE book.outbox SET payload = 'x' WHERE type = 'deposit.confirmed'`,
    Error,
    "signed",
  );
});

test("balances cannot fall below zero and postings are positive, whoever writes them", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await withdrawalMade(sql);
  for (const column of ["available", "pending", "reserved"]) {
    await assertRejects(() => sql`UPDATE book.balance SET ${sql(column)} = -1`, Error, "negative");
  }
  await assertRejects(
    () =>
      sql`
      INSERT INTO book.entry VALUES ('p', 'l', ${merchantId}, 'available', 'reserved', 'USDT', 'TRX', 0, now())`,
    Error,
    "check",
  );
  await assertRejects(
    () =>
      sql`
      INSERT INTO book.entry VALUES ('p', 'l', ${merchantId}, 'available', 'available', 'USDT', 'TRX', 1, now())`,
    Error,
    "check",
  );
});

test("a status that may not follow is refused by the database", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await withdrawalMade(sql);
  await assertRejects(
    () => sql`UPDATE book.outgoing SET status = 'final'`,
    Error,
    "queued -> final",
  );
  await assertRejects(
    () => sql`UPDATE book.withdrawal SET status = 'PENDING_APPROVAL'`,
    Error,
    "PENDING -> PENDING_APPROVAL",
  );
  await assertRejects(
    () => sql`UPDATE book.deposit SET status = 'PENDING', cleared_at = NULL`,
    Error,
    "CONFIRMED -> PENDING",
  );
});

test("a living reference cannot be held twice", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await withdrawalMade(sql);
  await assertRejects(
    () =>
      sql`
      INSERT INTO book.withdrawal SELECT (jsonb_populate_record(w, '{"id": "wd_second", "seq": 2}')).* FROM book.withdrawal w`,
    Error,
    "withdrawal_reference",
  );
});

test("a settlement's history leads from PENDING to its status by allowed steps, and only grows", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const at = "2026-01-01T00:00:00.000Z";
  const steps = (...statuses: readonly string[]) =>
    sql.json(statuses.map((status) => ({ status, at })));
  const make = (id: number, status: string, ...history: readonly string[]) =>
    sql`
    INSERT INTO book.settlement (id, merchant_id, seq, withdrawal_id, currency, network, amount,
      total_fees, address, label, status, needed_approval, created_at, updated_at, history)
    VALUES (${`stl_${id}`}, 'mer_1', ${id}, 'wd_1', 'USDT', 'TRX', 1, 0, 'T', 'x', ${status}, false,
      now(), now(), ${steps(...history)})`;
  const move = (status: string, ...history: readonly string[]) =>
    sql`UPDATE book.settlement SET status = ${status}, history = ${steps(...history)}`;
  const refused: readonly [() => Promise<unknown>, string][] = [
    [() => make(1, "PROCESSING"), "does not lead"],
    [() => make(1, "PROCESSING", "PROCESSING"), "does not lead"],
    [() => make(1, "PROCESSING", "PENDING"), "does not lead"],
    [() => make(1, "APPROVED", "PENDING", "APPROVED"), "PENDING -> APPROVED"],
    [async () => await make(1, "PROCESSING", "PENDING", "PROCESSING"), ""],
    [() => move("COMPLETED", "PENDING", "PROCESSING", "COMPLETED"), "PROCESSING -> COMPLETED"],
    [() => sql`UPDATE book.settlement SET status = 'FAILED'`, "does not lead"],
    [() => move("FAILED", "PENDING", "FAILED"), "written once"],
    [() => move("FAILED", "PENDING", "PROCESSING", "FAILED"), ""],
    [() => move("PENDING", "PENDING"), "written once"],
  ];
  for (const [change, says] of refused) {
    if (says === "") await change();
    else await assertRejects(change, Error, says);
  }
});
