import { assertEquals, assertRejects } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { commitSigned } from "../support/commit_signed.ts";
import {
  addMerchant,
  addTransfer,
  fund,
  openJournal,
  reserveCommand,
  SOMEWHERE,
  until,
} from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

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

const EVIDENCE = JSON.stringify({ height: 1, hash: "a", previousTime: "b" });
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

test("what a transfer of ours pays, and to whom, is written once", async () => {
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
