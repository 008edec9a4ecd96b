import { configure, type LogRecord, reset } from "@logtape/logtape";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { Journal } from "../../actors/journal/journal.ts";
import type { DecideDeposit, IngestWithdrawal } from "../../actors/merchant/messages.ts";
import { newId } from "../../actors/runtime/ids.ts";
import { LOST_ACCOUNT } from "../../ledger/own_accounts.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { createJournalStore, type JournalStore } from "../../ledger/journal/store.ts";
import { recordTransfers } from "../../ledger/watcher/record_transfers.ts";
import {
  addMerchant,
  amount,
  booksFaults,
  fund,
  openJournal,
  reserveCommand,
  SOMEWHERE,
} from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const ASK_MS = 60_000;

/** Runs a function and returns what was logged meanwhile, from warnings upwards. */
async function alarmsOf(body: () => Promise<void>): Promise<readonly string[]> {
  const records: LogRecord[] = [];
  await configure({
    sinks: { kept: (record) => void records.push(record) },
    loggers: [
      { category: ["engine"], lowestLevel: "warning", sinks: ["kept"] },
      { category: ["logtape"], lowestLevel: "error", sinks: ["kept"] },
    ],
  });
  try {
    await body();
  } finally {
    await reset();
  }
  return records.map(({ message }) => message.join(""));
}

/** A store whose writes wait for a gate, and how many merchants each of them wrote. */
function gatedStore(sql: Sql) {
  const store = createJournalStore(sql);
  const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const sizes: number[] = [];
  const gated: JournalStore = {
    ...store,
    async writeBatch(...args) {
      reached.resolve();
      await gate.promise;
      sizes.push(args[2].length);
      return await store.writeBatch(...args);
    },
  };
  return { store: gated, sizes, reached: reached.promise, open: () => gate.resolve() };
}

/** Books a deposit by hand. */
async function bookDeposit(
  journal: Journal,
  merchantId: string,
  txid: string | null = null,
): Promise<string> {
  const depositId = newId("dep");
  const outcome = await journal.ask(merchantId, {
    type: "create-deposit",
    at: Date.now(),
    depositId,
    transactionId: newId("txn"),
    currency: "USDT",
    network: "TRX",
    amount: amount("10"),
    source: "bank",
    description: null,
    metadata: {},
    depositAddressId: null,
    txid,
    usdRate: "1",
  }, ASK_MS);
  assertEquals(outcome.kind, "done");
  return depositId;
}

/** An upstream event, of one id unless told otherwise, that confirms a deposit. */
function confirms(
  depositId: string,
  ingestion = { eventId: "upstream 1", bodyHash: depositId },
): DecideDeposit {
  return {
    type: "decide-deposit",
    at: Date.now(),
    depositId,
    to: "CONFIRMED",
    reason: null,
    chargeIds: [newId("chg"), newId("chg")],
    eventIds: [newId("evt"), newId("evt")],
    ingestion,
  };
}

/** The ends of both, sorted: the code of a refusal, otherwise the kind of the outcome. */
async function endsOf(
  asked: readonly ReturnType<Journal["ask"]>[],
): Promise<readonly string[]> {
  const outcomes = await Promise.all(asked);
  return outcomes.map((outcome) => outcome.kind === "refused" ? outcome.refusal.code : outcome.kind)
    .sort();
}

test("two merchants of one batch that are told of one event: one is, the other refused, without alarm", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { store, sizes, reached, open } = gatedStore(sql);
  const booking = openJournal(sql);
  const merchants = await Promise.all([1, 2, 3].map(() => addMerchant(sql)));
  const [first = "", second = "", other = ""] = merchants;
  const deposits = [await bookDeposit(booking, first), await bookDeposit(booking, second)];
  await booking.stop(1_000);
  const journal = openJournal(sql, { store });
  const alarms = await alarmsOf(async () => {
    // what is asked while a batch is written is the next batch
    const before = bookDeposit(journal, other);
    await reached;
    const asked = [first, second].map((merchantId, n) =>
      journal.ask(merchantId, confirms(deposits[n] ?? ""), ASK_MS)
    );
    const bystander = bookDeposit(journal, other);
    open();
    assertEquals(await endsOf(asked), ["done", "event_conflict"]);
    await Promise.all([before, bystander]);
  });
  assertEquals(alarms, []);
  assert(sizes.includes(3), `the race did not take place: ${sizes}`);
  const rows = await sql`SELECT status FROM book.deposit WHERE merchant_id <> ${other}`;
  assertEquals(rows.map(({ status }) => status).sort(), ["CONFIRMED", "PENDING"]);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("two merchants that are told of one event have no withdrawal of another one decided alone", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { store, sizes, reached, open } = gatedStore(sql);
  const booking = openJournal(sql);
  const [first, second, ...paying] = await Promise.all(
    Array.from({ length: 22 }, () => addMerchant(sql)),
  );
  const told = [first ?? "", second ?? ""];
  const deposits = [await bookDeposit(booking, told[0]!), await bookDeposit(booking, told[1]!)];
  await Promise.all(paying.map((merchantId) => fund(sql, booking, merchantId, "100")));
  await booking.stop(1_000);
  const journal = openJournal(sql, { store });
  // what is asked while a batch is written is the next batch
  const before = bookDeposit(journal, told[0]!);
  await reached;
  const asked = told.map((merchantId, n) =>
    journal.ask(merchantId, confirms(deposits[n] ?? ""), ASK_MS)
  );
  const payouts = paying.map((merchantId) =>
    journal.ask(merchantId, reserveCommand({ referenceId: "order-1" }), ASK_MS)
  );
  open();
  assertEquals(await endsOf(asked), ["done", "event_conflict"]);
  assertEquals(await endsOf(payouts), paying.map(() => "done"));
  await before;
  assertEquals(sizes.filter((size) => size > 1), [22, 20]);
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});

test("two nodes that are told of one event for two merchants: one takes it, the other refuses", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const late = gatedStore(sql);
  const [node, lateNode] = [openJournal(sql), openJournal(sql, { store: late.store })];
  const [first, second] = [await addMerchant(sql), await addMerchant(sql)];
  const [deposit, lateDeposit] = [
    await bookDeposit(node, first),
    await bookDeposit(node, second),
  ];
  const alarms = await alarmsOf(async () => {
    const asked = lateNode.ask(second, confirms(lateDeposit), ASK_MS);
    await late.reached;
    assertEquals(await endsOf([node.ask(first, confirms(deposit), ASK_MS)]), ["done"]);
    late.open();
    assertEquals(await endsOf([asked]), ["event_conflict"]);
  });
  assertEquals(alarms, []);
  assertEquals(await booksFaults(sql), []);
  await Promise.all([node.stop(1_000), lateNode.stop(1_000)]);
});

test("two nodes that confirm deposits by hand of one transaction: one does, the other refuses", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const late = gatedStore(sql);
  const [node, lateNode] = [openJournal(sql), openJournal(sql, { store: late.store })];
  const [first, second] = [await addMerchant(sql), await addMerchant(sql)];
  const txid = "cd".repeat(32);
  const [deposit, lateDeposit] = [
    await bookDeposit(node, first, txid),
    await bookDeposit(node, second, txid),
  ];
  const event = (n: number) => ({ eventId: `upstream ${n}`, bodyHash: String(n) });
  const alarms = await alarmsOf(async () => {
    const asked = lateNode.ask(second, confirms(lateDeposit, event(2)), ASK_MS);
    await late.reached;
    assertEquals(await endsOf([node.ask(first, confirms(deposit, event(1)), ASK_MS)]), ["done"]);
    late.open();
    assertEquals(await endsOf([asked]), ["transfer_of_another"]);
  });
  assertEquals(alarms, []);
  // what was refused was not taken in: the event may be told again
  const taken = await sql`SELECT event_id FROM book.ingested`;
  assertEquals(taken.map((row) => row["event_id"]), ["upstream 1"]);
  assertEquals(await booksFaults(sql), []);
  await Promise.all([node.stop(1_000), lateNode.stop(1_000)]);
});

/** The scan reads a final transfer. */
async function scan(sql: Sql, merchantId: string, txid: string): Promise<void> {
  await recordTransfers(sql, "TRX", "solid", [{
    merchantId,
    addressId: "adr_test",
    txid,
    logIndex: 3,
    currency: "USDT",
    amount: amount("10"),
    from: SOMEWHERE,
    to: `address of ${merchantId}`,
    height: 7,
    diesAfter: 1_800_000_000_000,
    expiresAt: 1_800_000_000_000,
  }]);
}

test("what was scanned as paid to another merchant is not confirmed by hand for any other, whatever a node says", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const [merchant, payee] = [await addMerchant(sql), await addMerchant(sql)];
  const ends: string[] = [];
  for (const [n, paid] of [payee, merchant, LOST_ACCOUNT].entries()) {
    const txid = `${n}`.repeat(64);
    const deposit = await bookDeposit(journal, merchant, txid);
    await scan(sql, paid, txid);
    const event = { eventId: `upstream ${n}`, bodyHash: "" };
    ends.push(...await endsOf([journal.ask(merchant, confirms(deposit, event), ASK_MS)]));
  }
  assertEquals(ends, ["transfer_of_another", "done", "done"]);
  // neither by hand in the database
  await assertRejects(
    () => sql`UPDATE book.deposit SET status = 'CONFIRMED' WHERE status = 'PENDING'`,
    Error,
    "paid another merchant",
  );
  assertEquals(await booksFaults(sql), []);
  // what is scanned only afterwards is credited all the same, and no secret
  await scan(sql, payee, "1".repeat(64));
  const [fault, ...others] = await booksFaults(sql);
  assertMatch(String(fault), /stands for 1{64}, which paid mer_/);
  assertEquals(others, []);
  await journal.stop(1_000);
});

test("what is scanned while a deposit by hand of it is confirmed is answered, without alarm", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const late = gatedStore(sql);
  const [booking, journal] = [openJournal(sql), openJournal(sql, { store: late.store })];
  const [merchant, payee] = [await addMerchant(sql), await addMerchant(sql)];
  const txid = "ef".repeat(32);
  const deposit = await bookDeposit(booking, merchant, txid);
  const alarms = await alarmsOf(async () => {
    const asked = journal.ask(merchant, confirms(deposit), ASK_MS);
    await late.reached;
    await scan(sql, payee, txid);
    late.open();
    assertEquals(await endsOf([asked]), ["transfer_of_another"]);
  });
  assertEquals(alarms, []);
  assertEquals(await booksFaults(sql), []);
  await Promise.all([booking.stop(1_000), journal.stop(1_000)]);
});

test("a payment of another wallet that is named for two withdrawals at once pays one of them", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const late = gatedStore(sql);
  const [node, lateNode] = [openJournal(sql), openJournal(sql, { store: late.store })];
  const paid = async (n: number): Promise<[string, IngestWithdrawal]> => {
    const merchantId = await addMerchant(sql);
    await fund(sql, node, merchantId, "100");
    const reserve = reserveCommand();
    assertEquals((await node.ask(merchantId, reserve, ASK_MS)).kind, "done");
    return [merchantId, {
      type: "ingest-withdrawal",
      at: Date.now(),
      withdrawalId: reserve.withdrawalId,
      settlementId: null,
      network: "TRX",
      paidBy: { txid: "ab".repeat(32), height: 9, own: false },
      reason: null,
      chargeIds: [newId("chg"), newId("chg")],
      eventIds: [newId("evt"), newId("evt")],
      ingestion: { eventId: `upstream ${n}`, bodyHash: String(n) },
    }];
  };
  const [[first, message], [second, lateMessage]] = [await paid(1), await paid(2)];
  const alarms = await alarmsOf(async () => {
    const asked = lateNode.ask(second, lateMessage, ASK_MS);
    await late.reached;
    assertEquals(await endsOf([node.ask(first, message, ASK_MS)]), ["done"]);
    late.open();
    assertEquals(await endsOf([asked]), ["payment_used"]);
  });
  assertEquals(alarms, []);
  assertEquals(await booksFaults(sql), []);
  await Promise.all([node.stop(1_000), lateNode.stop(1_000)]);
});

test("what is taken by a message that is not known to take anything is a bug of that message alone", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const booking = openJournal(sql);
  const [broken, fine] = [await addMerchant(sql), await addMerchant(sql)];
  for (const merchantId of [broken, fine]) await fund(sql, booking, merchantId, "50");
  await booking.stop(1_000);
  class TakenMeanwhile extends Error {}
  const late = gatedStore(sql);
  const store: JournalStore = {
    ...late.store,
    writeBatch: async (...args) => {
      if (args[2].some(({ account }) => account.merchantId === broken)) throw new TakenMeanwhile();
      return await late.store.writeBatch(...args);
    },
    isTakenMeanwhile: (error) => error instanceof TakenMeanwhile,
  };
  const journal = openJournal(sql, { store });
  const alarms = await alarmsOf(async () => {
    const before = journal.ask(fine, reserveCommand(), ASK_MS);
    await late.reached;
    const asked = [broken, fine].map((merchantId) =>
      journal.ask(merchantId, reserveCommand(), ASK_MS)
    );
    late.open();
    assertEquals(await endsOf([before, ...asked]), ["done", "done", "failed"]);
  });
  assertEquals(alarms.length, 2, "of the batch, and of the message");
  assertEquals(await booksFaults(sql), []);
  await journal.stop(1_000);
});
