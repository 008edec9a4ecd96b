import { assert, assertEquals } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { commitSigned } from "../support/commit_signed.ts";
import { PLATFORM_ACCOUNT } from "../../ledger/own_accounts.ts";
import { findOwnTransactions, recordOutcomes } from "../../ledger/watcher/record_outcomes.ts";
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

/** A merchant whose top-up address is {@linkcode SOMEWHERE}. */
async function openAccount(sql: Sql) {
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql, { rate: "0.1" });
  const outcome = await journal.ask(merchantId, {
    type: "issue-address",
    kind: "top_up",
    at: Date.now(),
    network: "TRX",
    identifier: null,
    referenceId: null,
    createOnly: false,
    fresh: { addressId: newId("adr"), address: SOMEWHERE, index: 0 },
  }, 60_000);
  assert(outcome.kind === "done");
  const hear = async () => {
    journal.wake(merchantId);
    await until(async () => {
      const rows = await sql`SELECT 1 FROM book.inbox WHERE consumed_at IS NULL`;
      return rows.length === 0;
    });
  };
  /** Writes a sweep of everything as signed, and then as final. */
  const sweep = async (txid: string) => {
    const outgoingId = newId("out");
    await sql`
      INSERT INTO book.outgoing (id, merchant_id, kind, network, currency, amount, wallet, destination, status, created_at, updated_at)
      SELECT ${outgoingId}, 'mer_platform', 'sweep', network, currency, amount, '0', 'hot', 'queued', now(), now()
      FROM book.deposit`;
    await sql`
      INSERT INTO book.sweep_item (merchant_id, network, txid, log_index, address, currency, amount, height)
      SELECT merchant_id, network, txid, log_index, address, currency, amount, 7 FROM book.deposit`;
    await sql`UPDATE book.sweep_item SET outgoing_id = ${outgoingId}`;
    const sweepTxid = "e".repeat(64);
    await commitSigned(sql, [{
      outgoingId,
      merchantId: PLATFORM_ACCOUNT,
      network: "TRX",
      txid: sweepTxid,
      bytes: "{}",
      expiresAt: Date.now() + 60_000,
    }]);
    const [own] = await findOwnTransactions(sql, "TRX", [sweepTxid]);
    assert(own !== undefined);
    const end = { own, result: "paid", reason: null, height: 9, fee: amount("6") } as const;
    assertEquals(await recordOutcomes(sql, "TRX", [end]), new Set([merchantId]));
    assertEquals(await recordOutcomes(sql, "TRX", [end]), new Set());
    const told = await sql`SELECT 1 FROM book.inbox WHERE phase = 'swept' AND txid = ${txid}`;
    assertEquals(told.length, 1);
    await hear();
  };
  return { journal, merchantId, hear, sweep };
}

async function standing(sql: Sql): Promise<string> {
  const [row] = await sql<{ line: string }[]>`
    SELECT d.status || ' fee ' || trim_scale(d.fixed_fee) || ' ' || trim_scale(b.available) || '/' || trim_scale(b.pending) AS line
    FROM book.deposit d JOIN book.balance b USING (merchant_id, currency, network)`;
  return row?.line ?? "none";
}

test("a top-up that was given up and became final after all is confirmed with money from the chain", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { journal, merchantId, hear, sweep } = await openAccount(sql);
  const txid = await addTransfer(sql, merchantId, "100", { phase: "seen" });
  await hear();
  await sql`
    INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
    VALUES (${merchantId}, 'TRX', ${txid}, 0, 'vanished', ${
    sql.json({ reason: "expired", to: SOMEWHERE })
  })`;
  await hear();
  await addTransfer(sql, merchantId, "100", { phase: "solid", txid });
  await hear();
  assertEquals(await standing(sql), "FAILED fee 0 0/0");
  await sweep(txid);
  assertEquals(await standing(sql), "CONFIRMED fee 1 99/0");
  // heard again, as after a crash of the watcher
  await sql`UPDATE book.inbox SET consumed_at = NULL WHERE phase = 'swept'`;
  await hear();
  assertEquals(await standing(sql), "CONFIRMED fee 1 99/0");
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("the flat fee is the merchant's, shared with its line, and no more than the top-up", async () => {
  for (const [text, fee, expected] of [["100", "2.5", "98.25"], ["2", "5", "0.6"]] as const) {
    await using database = await testDatabase();
    const { sql } = database;
    const { journal, merchantId, hear, sweep } = await openAccount(sql);
    await sql`
      UPDATE book.merchant SET direct_deposit_fee = ${fee}, margin_rate = 0.3, margin_beneficiary = ${merchantId}`;
    // another node's write, after which this one reads the account anew
    await sql`UPDATE book.account SET version = version + 1`;
    const txid = await addTransfer(sql, merchantId, text);
    await hear();
    await sweep(txid);
    const taken = text === "2" ? "2" : fee;
    assertEquals(await standing(sql), `CONFIRMED fee ${taken} ${expected}/0`);
    const [margin] = await sql`SELECT leg, trim_scale(fee)::text AS fee FROM book.margin`;
    assertEquals({ ...margin }, { leg: "direct_deposit_fee", fee: taken });
    assertEquals(await booksFaults(sql), []);
    await journal.stop(1_000);
  }
});

test("a top-up under one dollar pays nothing, and its event is kept unsent with the reason", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { journal, merchantId, hear, sweep } = await openAccount(sql);
  const txid = await addTransfer(sql, merchantId, "0.9");
  await hear();
  await sweep(txid);
  assertEquals(await standing(sql), "CONFIRMED fee 0 0.9/0");
  const events = await sql`SELECT type, status, last_outcome AS reason FROM book.outbox`;
  assertEquals([...events], [
    { type: "deposit.confirmed", status: "SKIPPED", reason: "under_1_usd" },
  ]);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});
