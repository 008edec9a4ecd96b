import { assert, assertEquals } from "@std/assert";
import { recordNeeds } from "../../actors/journal/open_batch.ts";
import type { CreateDeposit, DecideDeposit } from "../../actors/merchant/messages.ts";
import { newId } from "../../actors/runtime/ids.ts";
import { findDepositsOfTransaction, MOST_OF_TRANSACTION } from "../../ledger/deposits.ts";
import { createJournalStore } from "../../ledger/journal/store.ts";
import { readTransferStates } from "../../ledger/watcher/pending_deposits.ts";
import type { Amount } from "../../ledger/money/amount.ts";
import type { Sql } from "../../ledger/database/connect.ts";
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

function manualDeposit(fields: Partial<CreateDeposit> & { amount: Amount }): CreateDeposit {
  return {
    type: "create-deposit",
    at: Date.now(),
    depositId: newId("dep"),
    transactionId: newId("txn"),
    currency: "USDT",
    network: "TRX",
    source: "bank",
    description: null,
    metadata: {},
    depositAddressId: null,
    txid: null,
    usdRate: "1",
    ...fields,
  };
}

function decision(depositId: string, to: DecideDeposit["to"]): DecideDeposit {
  return {
    type: "decide-deposit",
    at: Date.now(),
    depositId,
    to,
    reason: null,
    chargeIds: [newId("chg"), newId("chg")],
    eventIds: [newId("evt"), newId("evt")],
    ingestion: null,
  };
}

async function addAddress(sql: Sql, merchantId: string): Promise<string> {
  const id = newId("adr");
  await sql`
    INSERT INTO book.deposit_address (id, merchant_id, network, address, wallet_index, kind, identifier, created_at)
    VALUES (${id}, ${merchantId}, 'TRX', ${SOMEWHERE}, 0, 'issued', 'customer', now())`;
  return id;
}

async function balance(sql: Sql, merchantId: string): Promise<string> {
  const [row] = await sql`
    SELECT trim_scale(available) || ' / ' || trim_scale(pending) AS line FROM book.balance
    WHERE merchant_id = ${merchantId}`;
  return row?.["line"] as string;
}

for (const to of ["FAILED", "CANCELLED"] as const) {
  for (const when of ["before", "after"] as const) {
    test(`a transfer that comes ${when} the deposit that claimed it is ${to} is credited`, async () => {
      await using database = await testDatabase();
      const { sql } = database;
      const journal = openJournal(sql);
      const merchantId = await addMerchant(sql);
      const txid = "c".repeat(64);
      const claim = manualDeposit({ amount: amount("50"), txid });
      assertEquals((await journal.ask(merchantId, claim, 60_000)).kind, "done");
      const decide = async () => {
        const outcome = await journal.ask(merchantId, decision(claim.depositId, to), 60_000);
        assertEquals(outcome.kind, "done");
      };
      if (when === "after") await decide();
      for (const phase of ["seen", "solid"] as const) {
        await addTransfer(sql, merchantId, "40", { txid, phase });
        journal.wake(merchantId);
      }
      if (when === "before") {
        // heard of while the claim stands: nothing is credited yet
        await until(async () => {
          const rows = await sql`
            SELECT 1 FROM book.inbox WHERE consumed_at IS NULL AND quarantine IS NULL`;
          return rows.length === 0;
        });
        assertEquals(await balance(sql, merchantId), "0 / 50");
        await decide();
      }
      await until(async () => {
        await journal.wakeAll();
        return await balance(sql, merchantId) === "40 / 0";
      });
      assertEquals(await booksFaults(sql), []);
      await journal.stop(1_000);
    });
  }
}

test("a transfer that a confirmed deposit has claimed is not credited again", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  const txid = "c".repeat(64);
  const claim = manualDeposit({ amount: amount("50"), txid });
  assertEquals((await journal.ask(merchantId, claim, 60_000)).kind, "done");
  await addTransfer(sql, merchantId, "50", { txid });
  journal.wake(merchantId);
  await until(async () => {
    const rows = await sql`
      SELECT 1 FROM book.inbox WHERE consumed_at IS NULL AND quarantine IS NULL`;
    return rows.length === 0;
  });
  const outcome = await journal.ask(merchantId, decision(claim.depositId, "CONFIRMED"), 60_000);
  assertEquals(outcome.kind, "done");
  await until(async () => {
    await journal.wakeAll();
    const rows = await sql`SELECT 1 FROM book.inbox WHERE consumed_at IS NULL`;
    return rows.length === 0;
  });
  assertEquals(await balance(sql, merchantId), "50 / 0");
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("a deposit by hand on an address activates it, once", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql, { rate: "0.01" });
  const depositAddressId = await addAddress(sql, merchantId);
  for (const expected of ["98.5", "197.5"]) {
    const deposit = manualDeposit({ amount: amount("100"), depositAddressId });
    assertEquals((await journal.ask(merchantId, deposit, 60_000)).kind, "done");
    const outcome = await journal.ask(merchantId, decision(deposit.depositId, "CONFIRMED"), 60_000);
    assertEquals(outcome.kind, "done");
    assertEquals(await balance(sql, merchantId), `${expected} / 0`);
  }
  const [event] = await sql`SELECT payload FROM book.outbox WHERE type = 'deposit.confirmed'`;
  assertEquals(JSON.parse(event?.["payload"] as string).identifier, `${merchantId}_customer`);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("no merchant can book so much by hand that the others' deposits no longer fit", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const [merchantId, other] = [await addMerchant(sql), await addMerchant(sql)];
  const huge = manualDeposit({ amount: amount("1000000000000") });
  assertEquals((await journal.ask(merchantId, huge, 60_000)).kind, "done");
  await addTransfer(sql, other, "5");
  journal.wake(other);
  await until(async () => {
    const rows =
      await sql`SELECT 1 FROM book.inbox WHERE consumed_at IS NULL AND quarantine IS NULL`;
    return rows.length === 0;
  });
  assertEquals(await balance(sql, other), "5 / 0");
  assertEquals(await booksFaults(sql), []);
  assert(
    (await journal.ask(merchantId, decision(huge.depositId, "CANCELLED"), 60_000)).kind === "done",
  );
  await journal.stop(1_000);
});

test("a transfer that is seen after a deposit by hand was confirmed for its transaction is not pending as well", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  const txid = "c".repeat(64);
  await sql`
    INSERT INTO book.deposit (id, merchant_id, seq, transaction_seq, currency, network, amount, status, source,
      txid, log_index, created_at, updated_at, cleared_at)
    VALUES ('dep_hand', ${merchantId}, 1, 1, 'USDT', 'TRX', 5, 'CONFIRMED', 'manual', ${txid}, -1, now(), now(), now())`;
  await sql`UPDATE book.account SET deposit_seq = 1, transaction_seq = 1 WHERE merchant_id = ${merchantId}`;
  await addTransfer(sql, merchantId, "5", { phase: "seen", txid });
  journal.wake(merchantId);
  await until(async () =>
    (await sql`SELECT FROM book.inbox WHERE consumed_at IS NULL`).length === 0
  );
  const deposits = await sql<{ id: string }[]>`SELECT id FROM book.deposit`;
  assertEquals(deposits.map(({ id }) => id), ["dep_hand"]);
  await journal.stop(1_000);
});

test("a transaction that has paid a merchant very often is known by one of its deposits", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  const txid = "d".repeat(64);
  const often = MOST_OF_TRANSACTION + 50;
  const paid = Array.from({ length: often }, (_, logIndex) => logIndex);
  for (const logIndex of paid) {
    await addTransfer(sql, merchantId, "1", { txid, phase: "solid", logIndex });
  }
  journal.wake(merchantId);
  await until(async () => (await sql`SELECT 1 FROM book.deposit`).length === often);

  const message = manualDeposit({ amount: amount("50"), txid });
  const needs = recordNeeds([{ merchantId, message }]);
  const { deposits, transactions } = await createJournalStore(sql).readRecords(needs);
  assertEquals([deposits.length, transactions.length], [1, 1]);
  const outcome = await journal.ask(merchantId, message, 60_000);
  assert(outcome.kind === "refused" && outcome.refusal.code === "transfer_known");
  assertEquals(outcome.refusal.depositId, deposits[0]?.id);

  const shown = await findDepositsOfTransaction(sql, merchantId, "TRX", txid);
  assertEquals(shown.map(({ logIndex }) => logIndex), paid.slice(0, MOST_OF_TRANSACTION));
  const states = await readTransferStates(sql, merchantId, { network: "TRX", txid }, [
    ...paid,
    often,
  ]);
  const open = states.filter(({ booked }) => !booked).map(({ logIndex }) => logIndex);
  assertEquals(open, [often]);
  await journal.stop(1_000);
});
