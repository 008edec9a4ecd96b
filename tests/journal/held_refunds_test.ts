import { assert, assertEquals } from "@std/assert";
import type { IngestWithdrawal } from "../../actors/merchant/messages.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { createJournalStore } from "../../ledger/journal/store.ts";
import type { Network } from "../../ledger/money/pair.ts";
import {
  addMerchant,
  booksFaults,
  fund,
  openJournal,
  refundCommand,
  reserveCommand,
} from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** Makes what the server writes another history than the known one, as a promotion does. */
async function promote(sql: Sql): Promise<void> {
  await sql`UPDATE hub.database_history SET timeline = timeline + 1_000_000`;
}

function upstream(withdrawalId: string, paidBy: IngestWithdrawal["paidBy"]): IngestWithdrawal {
  const ingestion = { eventId: `told/${withdrawalId}`, bodyHash: withdrawalId };
  return refundCommand(withdrawalId, { paidBy, reason: null, ingestion });
}

test("a refund of a queued payout is not committed while signing is stopped, and what came with it is", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const [one, other] = [await addMerchant(sql), await addMerchant(sql)];
  for (const merchantId of [one, other]) await fund(sql, journal, merchantId, "100");
  const [failed, released, paid] = [reserveCommand(), reserveCommand(), reserveCommand()];
  for (const command of [failed, released, paid]) {
    assertEquals((await journal.ask(one, command, 60_000)).kind, "done");
  }
  const statuses = () =>
    sql<{ status: string; payout: string }[]>`
      SELECT w.status, o.status AS payout FROM book.withdrawal w JOIN book.outgoing o ON o.id = w.outgoing_id
      WHERE w.id = ANY (${
      [failed, released, paid].map(({ withdrawalId }) => withdrawalId)
    }) ORDER BY w.seq`;
  // after the interface has asked whether payouts are held, before the commit or its retry
  await promote(sql);
  const payment = { txid: "ab".repeat(32), height: 5, own: false };
  const answers = await Promise.all([
    journal.ask(one, upstream(failed.withdrawalId, null), 60_000),
    journal.ask(one, refundCommand(released.withdrawalId), 60_000),
    journal.ask(one, upstream(paid.withdrawalId, payment), 60_000),
    journal.ask(one, reserveCommand(), 60_000),
    journal.ask(other, reserveCommand(), 60_000),
  ]);
  const [pending, confirmed] = [
    { status: "PENDING", payout: "queued" },
    { status: "CONFIRMED", payout: "void" },
  ];
  assertEquals((await statuses()).map((row) => ({ ...row })), [pending, pending, confirmed]);
  assertEquals(answers.map(({ kind }) => kind), [
    "held",
    "held",
    "done",
    "done",
    "done",
  ]);
  assertEquals(journal.figures.quarantined, 0);
  // held no more: it is given back
  await sql`UPDATE hub.database_history SET timeline = timeline - 1_000_000`;
  const again = await journal.ask(one, upstream(failed.withdrawalId, null), 60_000);
  assertEquals(again.kind, "done");
  assertEquals((await statuses())[0]?.status, "FAILED");
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("refunds that wait for signing cost the others two commits, however many there are", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const store = createJournalStore(sql);
  let writes = 0;
  const journal = openJournal(sql, {
    store: {
      ...store,
      writeBatch: (...args) => {
        writes++;
        return store.writeBatch(...args);
      },
    },
  });
  const [one, second, other] = [
    await addMerchant(sql),
    await addMerchant(sql),
    await addMerchant(sql),
  ];
  for (const merchantId of [one, second, other]) await fund(sql, journal, merchantId, "1000");
  const made = [one, second].flatMap((merchantId) =>
    Array.from({ length: 30 }, () => ({ merchantId, command: reserveCommand() }))
  );
  await Promise.all(
    made.map(({ merchantId, command }) => journal.ask(merchantId, command, 60_000)),
  );
  await promote(sql);
  writes = 0;
  const refunds = Promise.all(
    made.map(({ merchantId, command }) =>
      journal.ask(merchantId, refundCommand(command.withdrawalId), 30_000)
    ),
  );
  const besides = Promise.all(
    [one, other].map((merchantId) => journal.ask(merchantId, reserveCommand(), 30_000)),
  );
  assertEquals(new Set((await refunds).map(({ kind }) => kind)), new Set(["held"]));
  assertEquals((await besides).map(({ kind }) => kind), ["done", "done"]);
  // a batch is tried once with them and once without; they may come in a few batches
  assert(writes <= 10, `${writes} writes for ${made.length} refunds`);
  const [row] = await sql<{ n: number }[]>`
    SELECT count(*)::int AS n FROM book.withdrawal WHERE status = 'PENDING'`;
  assertEquals(row?.n, made.length + 2);
  await journal.stop(1_000);
});

test("a refund of a queued payout waits while this node has yet to read blocks that may have paid it, by its network, and what came with it does not", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const held = new Set<Network>();
  const journal = openJournal(sql, {
    holdsRefunds: (network) => Promise.resolve(held.has(network)),
  });
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "100");
  const [failed, paid] = [reserveCommand(), reserveCommand()];
  for (const command of [failed, paid]) await journal.ask(merchantId, command, 60_000);
  const { network } = failed;
  const refund = () => journal.ask(merchantId, upstream(failed.withdrawalId, null), 60_000);
  held.add(network);
  const payment = { txid: "ab".repeat(32), height: 5, own: false };
  const answers = await Promise.all([
    refund(),
    journal.ask(merchantId, upstream(paid.withdrawalId, payment), 60_000),
    journal.ask(merchantId, reserveCommand(), 60_000),
    refund(),
  ]);
  assertEquals(answers.map(({ kind }) => kind), ["held", "done", "done", "held"]);
  held.clear();
  held.add(network === "TRX" ? "ETH" : "TRX");
  assertEquals((await refund()).kind, "done");
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("a refund for which the signed batches cannot be read fails alone, and what came with it does not", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const store = createJournalStore(sql);
  const journal = openJournal(sql, {
    store: { ...store, readSignedBatches: () => Promise.reject(new Error("no such table")) },
    holdsRefunds: async (_network, readBatches) => await readBatches() < 0n,
  });
  const [one, other] = [await addMerchant(sql), await addMerchant(sql)];
  for (const merchantId of [one, other]) await fund(sql, journal, merchantId, "100");
  const payout = reserveCommand();
  await journal.ask(one, payout, 60_000);
  const answers = await Promise.all([
    journal.ask(one, refundCommand(payout.withdrawalId), 60_000),
    journal.ask(one, reserveCommand(), 60_000),
    journal.ask(other, reserveCommand(), 60_000),
  ]);
  assertEquals(answers.map(({ kind }) => kind), ["failed", "done", "done"]);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});
