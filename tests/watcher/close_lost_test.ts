import { assertEquals } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { closeLostPayments, listLostPayments } from "../../ledger/addresses/recover_addresses.ts";
import { LOST_ACCOUNT } from "../../ledger/own_accounts.ts";
import type { TransferFinding } from "../../ledger/watcher/findings.ts";
import { recordTransfers } from "../../ledger/watcher/record_transfers.ts";
import { addMerchant, amount, openJournal, SOMEWHERE, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { setDepositProofRule } from "../../ledger/watcher/deposit_proof_rule.ts";
import { proveTransfer, readAwaitedProof } from "../../ledger/watcher/deposit_proofs.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const TXID = "c".repeat(64);

/** Books with a merchant, to whom and to lost addresses one transaction pays. */
async function openBooks() {
  const database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  const paid = (logIndex: number, text: string, to: string): TransferFinding => ({
    txid: TXID,
    logIndex,
    currency: "USDT",
    amount: amount(text),
    from: SOMEWHERE,
    to: SOMEWHERE,
    height: 7,
    hash: "7",
    merchantId: to,
    addressId: "adr_1",
    diesAfter: 1,
    expiresAt: 1,
  });
  return {
    sql,
    merchantId,
    pay: (logIndex: number, text: string, to = merchantId) =>
      recordTransfers(sql, "TRX", "solid", [paid(logIndex, text, to)]),
    settle: async () => {
      journal.wake(merchantId);
      await until(async () => {
        const rows = await sql`
          SELECT FROM book.inbox WHERE consumed_at IS NULL AND quarantine IS NULL`;
        return rows.length === 0;
      });
    },
    /** Books and confirms a deposit by hand that names the transaction. */
    bookByHand: async (text: string) => {
      const depositId = newId("dep");
      const at = Date.now();
      const booked = await journal.ask(merchantId, {
        type: "create-deposit",
        at,
        depositId,
        transactionId: newId("txn"),
        currency: "USDT",
        network: "TRX",
        amount: amount(text),
        source: "restore",
        description: null,
        metadata: {},
        depositAddressId: null,
        txid: TXID,
        usdRate: "1",
      }, 60_000);
      assertEquals(booked.kind, "done");
      const confirmed = await journal.ask(merchantId, {
        type: "decide-deposit",
        at,
        depositId,
        to: "CONFIRMED",
        reason: null,
        chargeIds: [newId("chg"), newId("chg")],
        eventIds: [newId("evt"), newId("evt")],
        ingestion: null,
      }, 60_000);
      assertEquals(confirmed.kind, "done");
    },
    close: () => closeLostPayments(sql, "TRX", TXID),
    left: async () => (await listLostPayments(sql, 10)).map(({ logIndex }) => logIndex),
    [Symbol.asyncDispose]: async () => {
      await journal.stop(1_000);
      await database[Symbol.asyncDispose]();
    },
  };
}

test("a payment to a lost address stays on the list whatever ordinary deposit its transaction brought", async () => {
  await using books = await openBooks();
  await books.pay(1, "5");
  await books.pay(0, "1000", LOST_ACCOUNT);
  await books.settle();
  const rows = await books.sql`SELECT FROM book.deposit WHERE status = 'CONFIRMED'`;
  assertEquals([rows.length, await books.close(), await books.left()], [1, 0, [0]]);
});

test("a deposit by hand takes off the list what it is as large as: all payments of its transaction, or the one that it is", async () => {
  for (
    const [byHand, closed, left] of [
      ["1020", 2, []],
      ["1000", 1, [1]],
      ["20", 1, [0]],
      ["999", 0, [0, 1]],
    ] as const
  ) {
    await using books = await openBooks();
    await books.pay(0, "1000", LOST_ACCOUNT);
    await books.pay(1, "20", LOST_ACCOUNT);
    await books.bookByHand(byHand);
    assertEquals([await books.close(), await books.left()], [closed, [...left]], byHand);
    assertEquals(await books.close(), 0, "the same deposit covers nothing else");
  }
});

test("what a deposit by hand stands for of its merchant's own payments covers no lost one", async () => {
  for (const [byHand, closed] of [["5", 0], ["10", 1]] as const) {
    await using books = await openBooks();
    await books.pay(0, "5", LOST_ACCOUNT);
    await books.bookByHand(byHand);
    // it claims the whole transaction: the payment is not credited beside it
    await books.pay(1, "5");
    await books.settle();
    assertEquals(await books.close(), closed, byHand);
  }
});

test("a payment to the merchant that waits for its proof is not a lost one: the deposit by hand counts for it", async () => {
  await using books = await openBooks();
  const { sql, merchantId } = books;
  await setDepositProofRule(sql, "TRX", amount("500"));
  await books.pay(0, "1000", LOST_ACCOUNT);
  await books.pay(1, "1000");
  await books.bookByHand("1000");
  assertEquals([await books.close(), await books.left()], [0, [0]]);
  const transfer = { merchantId, network: "TRX", txid: TXID, logIndex: 1 } as const;
  const awaited = await readAwaitedProof(sql, transfer);
  if (awaited === null) throw new Error("Cannot prove what waits for no proof");
  await proveTransfer(sql, "TRX", awaited, { node: "second", height: 7, hash: "7", askedAt: 1 });
  await books.settle();
  assertEquals([await books.close(), await books.left()], [0, [0]]);
});
