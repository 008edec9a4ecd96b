import { assert, assertEquals } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { commitSigned } from "../support/commit_signed.ts";
import { findOwnTransactions, recordOutcomes } from "../../ledger/watcher/record_outcomes.ts";
import {
  addMerchant,
  amount,
  booksFaults,
  fund,
  openJournal,
  reserveCommand,
  SOMEWHERE,
  until,
} from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { settlementCommand } from "../support/settlement_command.ts";

const test = testNeeding(DATABASE);

async function whitelist(
  journal: ReturnType<typeof openJournal>,
  merchantId: string,
): Promise<string> {
  const at = Date.now();
  const added = await journal.ask(merchantId, {
    type: "add-settlement-address",
    at,
    addressId: newId("adr"),
    network: "TRX",
    address: SOMEWHERE,
    label: "cold",
  }, 60_000);
  assert(added.kind === "done");
  const { id: addressId } = added.value;
  const active = { type: "activate-settlement-address", at, addressId, active: true } as const;
  assertEquals((await journal.ask(merchantId, active, 60_000)).kind, "done");
  return addressId;
}

/** Does as the watcher when it meets the signed transaction of an outgoing row. */
async function finish(
  sql: Sql,
  outgoingId: string,
  merchantId: string,
  result: "paid" | "failed",
): Promise<void> {
  const txid = outgoingId.replaceAll(/[^0-9a-f]/g, "").padStart(64, "0").slice(-64);
  const expiresAt = Date.now() + 60_000;
  await commitSigned(sql, [
    { outgoingId, merchantId, network: "TRX", txid, bytes: "{}", expiresAt },
  ]);
  const [own] = await findOwnTransactions(sql, "TRX", [txid]);
  assert(own !== undefined);
  const reason = result === "paid" ? null : "REVERT";
  await recordOutcomes(sql, "TRX", [{ own, result, reason, height: 9, fee: amount("6") }]);
}

async function statusOf(sql: Sql, settlementId: string): Promise<string> {
  const [row] = await sql`
    SELECT s.status || ' ' || w.status || ' ' || t.type || ' ' || t.status AS line FROM book.settlement s
    JOIN book.withdrawal w ON w.id = s.withdrawal_id
    JOIN book.transaction t ON t.payment_id = w.id WHERE s.id = ${settlementId}`;
  return row?.["line"] as string;
}

test("a settlement goes only to a whitelisted and active address", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "100");
  const refused = await journal.ask(merchantId, settlementCommand(), 60_000);
  assert(refused.kind === "refused" && refused.refusal.code === "destination_not_whitelisted");
  const addressId = await whitelist(journal, merchantId);
  const done = await journal.ask(merchantId, settlementCommand(), 60_000);
  assert(done.kind === "done");
  assertEquals(done.value.settlement.status, "PROCESSING");
  const remove = { type: "remove-settlement-address", at: Date.now(), addressId } as const;
  assertEquals((await journal.ask(merchantId, remove, 60_000)).kind, "done");
  const gone = await journal.ask(merchantId, settlementCommand(), 60_000);
  assert(gone.kind === "refused" && gone.refusal.code === "destination_not_whitelisted");
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

for (const result of ["paid", "failed"] as const) {
  test(`a settlement whose payout is ${result} ends so, once, without any callback`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    const journal = openJournal(sql);
    const merchantId = await addMerchant(sql);
    await fund(sql, journal, merchantId, "100");
    await whitelist(journal, merchantId);
    const command = settlementCommand();
    assertEquals((await journal.ask(merchantId, command, 60_000)).kind, "done");
    await finish(sql, command.outgoingId, merchantId, result);
    journal.wake(merchantId);
    const end = result === "paid"
      ? "COMPLETED CONFIRMED SETTLEMENT CONFIRMED"
      : "FAILED FAILED SETTLEMENT FAILED";
    await until(async () => await statusOf(sql, command.settlementId) === end);
    const events = await sql`SELECT type FROM book.outbox WHERE payment_id LIKE 'wd%'`;
    assertEquals(events.length, 0);
    const [balance] = await sql`
      SELECT trim_scale(available)::text AS a, reserved = 0 AS free FROM book.balance`;
    assertEquals([balance?.["a"], balance?.["free"]], [result === "paid" ? "88" : "100", true]);
    assertEquals(await booksFaults(sql), []);
    await journal.stop(1_000);
  });
}

test("a large settlement waits for an administrator; approving twice pays once", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await sql`UPDATE book.settlement_threshold SET amount = 10`;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "100");
  await whitelist(journal, merchantId);
  const command = settlementCommand();
  const created = await journal.ask(merchantId, command, 60_000);
  assert(created.kind === "done");
  assertEquals(created.value.settlement.status, "APPROVAL_REQUIRED");
  assertEquals((await sql`SELECT 1 FROM book.outgoing`).length, 0);
  const { settlementId, withdrawalId } = command;
  const approve = {
    type: "approve-settlement",
    at: Date.now(),
    settlementId,
    withdrawalId,
  } as const;
  const [first, second] = await Promise.all([
    journal.ask(merchantId, approve, 60_000),
    journal.ask(merchantId, approve, 60_000),
  ]);
  assert(first.kind === "done" && second.kind === "done");
  assertEquals([first.value.changed, second.value.changed], [true, false]);
  assertEquals((await sql`SELECT 1 FROM book.outgoing`).length, 1);
  const decline = {
    type: "decline-settlement",
    at: Date.now(),
    settlementId,
    withdrawalId,
    to: "REJECTED",
    reason: "Rejected: test",
    chargeIds: [newId("chg"), newId("chg")],
    eventIds: [newId("evt"), newId("evt")],
  } as const;
  const late = await journal.ask(merchantId, decline, 60_000);
  assert(late.kind === "refused" && late.refusal.code === "wrong_state");
  const other = settlementCommand();
  await journal.ask(merchantId, other, 60_000);
  const rejected = await journal.ask(merchantId, {
    ...decline,
    settlementId: other.settlementId,
    withdrawalId: other.withdrawalId,
    chargeIds: [newId("chg"), newId("chg")],
  }, 60_000);
  assert(rejected.kind === "done");
  assertEquals(await statusOf(sql, other.settlementId), "REJECTED CANCELLED SETTLEMENT CANCELLED");
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("an idempotency key gets the same settlement again and a conflict for another body", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "100");
  await whitelist(journal, merchantId);
  const key = { idempotencyKey: "k", bodyHash: "one" };
  const [a, b] = await Promise.all([
    journal.ask(merchantId, settlementCommand(key), 60_000),
    journal.ask(merchantId, settlementCommand(key), 60_000),
  ]);
  assert(a.kind === "done" && b.kind === "done");
  assertEquals(a.value.settlement.id, b.value.settlement.id);
  const other = settlementCommand({ ...key, bodyHash: "two" });
  const conflict = await journal.ask(merchantId, other, 60_000);
  assert(conflict.kind === "refused" && conflict.refusal.code === "idempotency_conflict");
  assertEquals((await sql`SELECT 1 FROM book.outgoing`).length, 1);
  await journal.stop(1_000);
});

test("a reseller's withdrawal is pinned, waits for approval, and can be taken back", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "100");
  const pinnedTo = { address: SOMEWHERE, network: "TRX" } as const;
  const elsewhere = reserveCommand({ pinnedTo, destination: "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8" });
  const wrong = await journal.ask(merchantId, elsewhere, 60_000);
  assert(wrong.kind === "refused" && wrong.refusal.code === "destination_not_registered");
  const one = reserveCommand({ pinnedTo, referenceId: "r" });
  const made = await journal.ask(merchantId, one, 60_000);
  assert(made.kind === "done" && made.value.status === "PENDING_APPROVAL");
  assertEquals((await sql`SELECT 1 FROM book.outgoing`).length, 0);
  const { withdrawalId } = one;
  const decline = {
    type: "decline-withdrawal",
    at: Date.now(),
    withdrawalId,
    reason: "Cancelled: by the merchant",
    chargeIds: [newId("chg"), newId("chg")],
    eventIds: [newId("evt"), newId("evt")],
  } as const;
  assertEquals((await journal.ask(merchantId, decline, 60_000)).kind, "done");
  const again = reserveCommand({ pinnedTo, referenceId: "r" });
  assertEquals((await journal.ask(merchantId, again, 60_000)).kind, "done");
  const approve = { type: "approve-withdrawal", at: Date.now() } as const;
  const approved = await journal.ask(
    merchantId,
    { ...approve, withdrawalId: again.withdrawalId },
    5_000,
  );
  assert(approved.kind === "done" && approved.value.status === "PENDING");
  const dead = await journal.ask(merchantId, { ...approve, withdrawalId }, 60_000);
  assert(dead.kind === "refused" && dead.refusal.code === "wrong_state");
  const events = await sql`SELECT type, payment_id FROM book.outbox WHERE type LIKE 'withdrawal%'`;
  assertEquals(events.map((event) => [event["type"], event["payment_id"]]), [
    ["withdrawal.failed", withdrawalId],
  ]);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});
