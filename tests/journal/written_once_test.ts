import { assertEquals, assertRejects } from "@std/assert";
import type { Sql } from "../../ledger/database/connect.ts";
import type { MerchantChanges } from "../../ledger/journal/write_batch.ts";
import { NO_ROWS } from "../../ledger/rows.ts";
import { createJournalStore } from "../../ledger/journal/store.ts";
import { addMerchant, fund, openJournal, reserveCommand } from "../support/books.ts";
import { commitSigned } from "../support/commit_signed.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { v7 } from "uuid";

const test = testNeeding(DATABASE);

/** A merchant with a deposit and a signed withdrawal, and the batch that credited the deposit. */
async function lived(sql: Sql) {
  const store = createJournalStore(sql);
  const credits: MerchantChanges[] = [];
  const journal = openJournal(sql, {
    store: {
      ...store,
      writeBatch(...args) {
        credits.push(...args[2].filter(({ once }) => once.consumed.length > 0));
        return store.writeBatch(...args);
      },
    },
  });
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "100");
  const made = reserveCommand();
  assertEquals((await journal.ask(merchantId, made, 60_000)).kind, "done");
  await journal.stop(1_000);
  const txid = "a".repeat(64);
  const attempt = {
    outgoingId: made.outgoingId,
    merchantId,
    network: "TRX" as const,
    txid,
    bytes: "{}",
    expiresAt: Date.now() + 60_000,
  };
  assertEquals((await commitSigned(sql, [attempt])).size, 1);
  const [credit] = credits;
  if (credit === undefined) throw new Error("Cannot go on as nothing was credited");
  return { merchantId, credit, store };
}

test("what happens once is written once, whichever session writes it", async (t) => {
  await using database = await testDatabase();
  const { sql } = database;
  const { merchantId, credit, store } = await lived(sql);

  await t.step("one transfer, one deposit", async () => {
    await assertRejects(
      () =>
        sql`
          INSERT INTO book.deposit SELECT (row).* FROM (
            SELECT jsonb_populate_record(d, '{"id": "dep_2", "seq": 2, "transaction_seq": 99}') AS row
            FROM book.deposit d) copied`,
      Error,
      "deposit_transfer",
    );
  });

  await t.step("one leg of a payment, one entry of a merchant", async () => {
    await assertRejects(
      () => sql`INSERT INTO book.entry SELECT * FROM book.entry LIMIT 1`,
      Error,
      "entry_pkey",
    );
  });

  await t.step("one transfer out, one attempt under way", async () => {
    await assertRejects(
      () =>
        sql`
          INSERT INTO book.attempt SELECT (row).* FROM (
            SELECT jsonb_populate_record(a, '{"number": 2, "txid": "bb"}') AS row
            FROM book.attempt a) copied`,
      Error,
      "attempt_in_flight",
    );
  });

  await t.step("one row of the inbox, one batch that consumes it", async () => {
    const account = (await store.readAccounts([merchantId])).get(merchantId);
    if (account === undefined) throw new Error("Cannot go on as there is no account");
    const { epoch } = await store.readSettings();
    // everything that another rule would refuse is left out
    const again: MerchantChanges = {
      ...credit,
      account: { ...credit.account, version: account.version, lastCommit: account.lastCommit },
      opened: [],
      entries: [],
      created: NO_ROWS,
      once: { ...credit.once, charges: [], events: [] },
    };
    await assertRejects(
      () => store.writeBatch(v7(), epoch, [again]),
      Error,
      "Cannot consume inbox rows",
    );
  });
});
