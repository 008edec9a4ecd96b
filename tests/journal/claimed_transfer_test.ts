import { assertEquals } from "@std/assert";
import { addMerchant, addTransfer, openJournal, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

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
