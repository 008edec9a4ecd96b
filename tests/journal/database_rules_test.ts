import { assert, assertEquals, assertRejects } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import {
  depositTable,
  settlementAddressTable,
  settlementTable,
  transactionTable,
  withdrawalTable,
} from "../../ledger/payment_rows.ts";
import { depositAddressTable, merchantTable } from "../../ledger/rows.ts";
import { TRANSITIONS } from "../../ledger/money/transitions.ts";
import {
  addMerchant,
  addTransfer,
  fund,
  openJournal,
  reserveCommand,
  SOMEWHERE,
  until,
} from "../support/books.ts";
import { commitSigned } from "../support/commit_signed.ts";
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

/** Columns that a record keeps as it was made. */
const FIXED = [
  [
    withdrawalTable,
    "id merchant_id seq transaction_seq settlement_id outgoing_id currency network amount base_fee markup_rate markup_amount network_fee margin margin_to destination reference_id description created_at created_by created_admin",
  ],
  [
    depositTable,
    "id merchant_id seq transaction_seq network source reference_id description address_id address txid log_index dies_after created_at created_by created_admin",
  ],
  [
    transactionTable,
    "merchant_id seq id payment_id type network to_address reference_id description category created_at",
  ],
  [
    settlementTable,
    "id merchant_id seq withdrawal_id currency network amount total_fees address label idempotency_key body_hash needed_approval created_at created_by created_admin",
  ],
  [
    settlementAddressTable,
    "id merchant_id network address label created_at created_by created_admin",
  ],
  [depositAddressTable, "id merchant_id network address wallet_index kind identifier created_at"],
  [merchantTable, "merchant_id slot created_at"],
] as const;

test("a column of a record is in the write of its changes, or fixed when the record is made", async () => {
  await using database = await testDatabase();
  const [written] = await database.sql<{ source: string }[]>`
    SELECT prosrc AS source FROM pg_proc WHERE oid = 'book.commit_batch'::regproc`;
  for (const [{ name, columns }, fixed] of FIXED) {
    const update = new RegExp(`UPDATE ${name} \\w SET ([^]*?)\\sFROM unnest`).exec(
      written?.source ?? "",
    );
    const changed = [...(update?.[1] ?? "").matchAll(/(\w+) = c\.(\w+)/g)].map(([, to, from]) => {
      assertEquals(to, from, name);
      return to;
    });
    assertEquals(
      [...changed, ...fixed.split(" ")].sort(),
      columns.map((column) => column.name).sort(),
      name,
    );
  }
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

test("a table whose rows are never deleted is never truncated, and no payment or address is", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const kept = await sql<{ name: string }[]>`
    SELECT DISTINCT tgrelid::regclass::text AS name FROM pg_trigger
    WHERE NOT tgisinternal AND tgtype & 8 <> 0 AND tgtype & 32 = 0
      AND tgfoid = 'book.refuse_change'::regproc`;
  const names = new Set(kept.map(({ name }) => name));
  assert(names.has("hub.installation") && names.size > 10, [...names].join());
  for (const name of ["account", "balance", "deposit", "outgoing", "settlement", "withdrawal"]) {
    names.add(`book.${name}`);
  }
  for (const name of ["address", "cursor", "migration", "scanned_range"]) names.add(`hub.${name}`);
  for (const name of names) {
    const truncated = () => sql.unsafe(`TRUNCATE ${name} CASCADE`);
    await assertRejects(truncated, Error, "written once", name);
  }
});

test("balances cannot fall below zero and postings are positive, whatever writes them", async () => {
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

/** A withdrawal of 10 USDT whose payout is signed. */
async function signedPayout(sql: Sql): Promise<string> {
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "100");
  const command = reserveCommand();
  await journal.ask(merchantId, command, 60_000);
  const { outgoingId } = command;
  const row = { outgoingId, merchantId, network: "TRX", bytes: "{}", expiresAt: 0 } as const;
  await commitSigned(sql, [{ ...row, txid: "a".repeat(64) }]);
  return outgoingId;
}

const EVIDENCE = JSON.stringify({ height: 1, hash: "a", previousTick: 1 });
const move = (sql: Sql, status: string) => sql`UPDATE book.outgoing SET status = ${status}`;

test("no transfer is taken back while a transaction of it may land, whoever writes that", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await signedPayout(sql);
  await assertRejects(() => move(sql, "dead"), Error, "may land");
  for (const word of ["paid", "unexpected"]) {
    await assertRejects(
      () =>
        sql.begin(async (tx) => {
          await tx`UPDATE book.attempt SET outcome = ${word}`;
          await tx`UPDATE book.outgoing SET status = 'dead'`;
        }),
      Error,
      "may land",
    );
  }
  // in either order, as long as both are there in the end
  await sql.begin(async (tx) => {
    await tx`UPDATE book.outgoing SET status = 'dead'`;
    await tx`UPDATE book.attempt SET outcome = 'expired', evidence = ${EVIDENCE}::text::jsonb`;
  });
  await move(sql, "queued");
  await move(sql, "void");
});

test("what an outgoing transfer pays, and to whom, is written once", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await signedPayout(sql);
  for (const [column, value] of [["amount", "11"], ["destination", "thief"], ["kind", "cold"]]) {
    await assertRejects(
      () => sql`UPDATE book.outgoing SET ${sql(column ?? "")} = ${value ?? ""}`,
      Error,
      "written once",
    );
  }
});

test("no top-up is confirmed without a final sweep that lists it, whoever writes that", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  const fresh = { addressId: newId("adr"), address: SOMEWHERE, index: 0 };
  await journal.ask(merchantId, {
    type: "issue-address",
    kind: "top_up",
    at: Date.now(),
    network: "TRX",
    identifier: null,
    referenceId: null,
    createOnly: false,
    fresh,
  }, 60_000);
  await addTransfer(sql, merchantId, "100");
  journal.wake(merchantId);
  await until(async () => (await sql`SELECT 1 FROM book.deposit`).length === 1);
  await assertRejects(
    () => sql`UPDATE book.deposit SET status = 'CONFIRMED', cleared_at = now()`,
    Error,
    "no final sweep",
  );
  const [row] = await sql<{ status: string }[]>`SELECT status FROM book.deposit`;
  assertEquals(row?.status, "PENDING");
});
