import { assert, assertEquals } from "@std/assert";
import { paymentActors } from "../../actors/payment/payment_actor.ts";
import { Timers } from "../../actors/runtime/timers.ts";
import { recordBlocks } from "../../actors/watcher/record_blocks.ts";
import type { Block, Transfer } from "../../chains/chain.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { commitSigned } from "../support/commit_signed.ts";
import { moveCursor } from "../../ledger/watcher/cursor.ts";
import {
  addMerchant,
  addTransfer,
  amount,
  booksFaults,
  fund,
  openJournal,
  reserveCommand,
  SOMEWHERE,
  until,
} from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { eventAddressOf, paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { historyOf } from "../support/scan_cursor.ts";

const test = testNeeding(DATABASE);
const TXID = "a".repeat(64);
const chain = paperChain("TRX");

/** A block with one successful transaction and the given transfers of it. */
function blockWith(transfers: readonly Partial<Transfer>[]): Block {
  return {
    height: 9,
    parentHeight: 8,
    hash: "9",
    parentHash: "8",
    time: 1_700_000_000_000,
    tick: 1_700_000_000_000,
    transactions: [{ txid: TXID, success: true, failure: null, fee: amount("6") }],
    transfers: transfers.map((transfer, logIndex) => ({
      txid: TXID,
      logIndex,
      currency: "USDT",
      eventFrom: eventAddressOf(chain.hotWallet),
      eventTo: eventAddressOf(SOMEWHERE),
      amount: amount("10"),
      diesAfter: 1_700_000_060_000,
      expiresAt: 1_700_000_060_000,
      ...transfer,
    })),
  };
}

/** A withdrawal of 10 USDT whose transaction is signed, and a deposit's address. */
async function signedPayout(sql: Sql, kind: "payout" | "settlement") {
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "100");
  const command = reserveCommand();
  assertEquals((await journal.ask(merchantId, command, 60_000)).kind, "done");
  await sql`ALTER TABLE book.outgoing DISABLE TRIGGER outgoing_is_kept`;
  await sql`UPDATE book.outgoing SET kind = ${kind}`;
  const { outgoingId } = command;
  const expiresAt = 1_700_000_060_000;
  await commitSigned(sql, [
    { outgoingId, merchantId, network: "TRX", txid: TXID, bytes: "{}", expiresAt },
  ]);
  return { journal, merchantId, withdrawalId: command.withdrawalId };
}

async function statusOf(sql: Sql): Promise<string> {
  const [row] = await sql`
    SELECT w.status || ' ' || o.status AS line FROM book.withdrawal w JOIN book.outgoing o ON o.id = w.outgoing_id`;
  return row?.["line"] as string;
}

for (const kind of ["payout", "settlement"] as const) {
  test(`a ${kind} is paid only by the very transfer that was intended`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    const { journal, merchantId } = await signedPayout(sql, kind);
    await recordBlocks(
      sql,
      chain,
      [blockWith([{ amount: amount("1"), logIndex: 4 }, {}])],
      "solid",
    );
    journal.wake(merchantId);
    await until(async () => await statusOf(sql) === "CONFIRMED final");
    assertEquals(await booksFaults(sql), []);
    await journal.stop(1_000);
  });

  const WRONG: readonly Partial<Transfer>[] = [
    { amount: amount("9.99") },
    { eventTo: "somebody" },
    { currency: "USDC" },
    { eventFrom: "another-wallet" },
  ];
  const wrongs = kind === "payout" ? WRONG : [];
  for (const transfers of [[], ...wrongs.map((wrong) => [wrong])]) {
    const what = JSON.stringify(transfers, (_, v) => typeof v === "bigint" ? `${v}` : v);
    test(`a ${kind} that succeeded with ${what} is neither refunded, paid again nor in the way of others`, async () => {
      await using database = await testDatabase();
      const { sql } = database;
      const { journal, merchantId } = await signedPayout(sql, kind);
      const other = await addMerchant(sql);
      await sql`
        INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
        VALUES ('customer', 'TRX', ${other}, 'adr_1', 1)`;
      const block = blockWith([...transfers, { eventTo: "customer", logIndex: 7 }]);
      const told = await recordBlocks(sql, chain, [block], "solid");
      for (const one of told) journal.wake(one);
      await until(async () => {
        const rows = await sql`SELECT 1 FROM book.deposit WHERE merchant_id = ${other}`;
        return rows.length === 1;
      });
      await journal.retryBroken();
      await journal.wakeAll();
      assertEquals(await statusOf(sql), "PENDING final");
      const [row] =
        await sql`SELECT quarantine FROM book.inbox WHERE merchant_id = ${merchantId} AND phase = 'outcome'`;
      assert((row?.["quarantine"] as string).startsWith("unexpected:"));
      assertEquals(await booksFaults(sql), []);
      await journal.stop(1_000);
    });
  }
}

test("a deposit that is not proven dead is checked again at the pace of its own network", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  const now = 1_700_000_000_000;
  const PACES = { TRX: 15_000, TRX_SHASTA: 3_000 } as const;
  for (const network of ["TRX", "TRX_SHASTA"] as const) {
    await addTransfer(sql, merchantId, "5", { network, phase: "seen", expiresAt: now });
  }
  journal.wake(merchantId);
  await until(async () => (await sql`SELECT 1 FROM book.deposit`).length === 2);
  const { activate } = paymentActors({
    sql,
    timers: new Timers(sql, () => {}),
    now: () => now,
    recheckMs: (network) => network === "TRX" ? PACES.TRX : PACES.TRX_SHASTA,
    wakeMerchant: () => {},
  });
  const deposits = await sql<{ id: string; network: "TRX" | "TRX_SHASTA" }[]>`
    SELECT id, network FROM book.deposit`;
  for (const { id, network } of deposits) {
    const actor = await activate(id);
    await actor.receive({ type: "timer", name: "expiry" });
    const [timer] = await sql`SELECT due_at FROM hub.timer WHERE actor = ${`payment/${id}`}`;
    assertEquals((timer?.["due_at"] as Date | undefined)?.getTime(), now + PACES[network], network);
  }
  await journal.stop(1_000);
});

test("a deposit whose transfer is final but quarantined is not told as failed", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  const expiresAt = 1_700_000_000_000;
  const txid = await addTransfer(sql, merchantId, "5", { phase: "seen", expiresAt });
  journal.wake(merchantId);
  await until(async () => (await sql`SELECT 1 FROM book.deposit`).length === 1);
  const [deposit] = await sql`SELECT id FROM book.deposit`;
  // final, but its pair was closed meanwhile
  await sql`UPDATE book.pair SET deposits_enabled = false`;
  await addTransfer(sql, merchantId, "5", { phase: "solid", txid, expiresAt });
  journal.wake(merchantId);
  await until(async () =>
    (await sql`SELECT 1 FROM book.inbox WHERE quarantine IS NOT NULL`).length === 1
  );
  const later = expiresAt + 60_000;
  const begin = {
    height: 5,
    hash: "5",
    time: later,
    previousTime: later,
    tick: later,
    previousTick: later,
  };
  await moveCursor(sql, "TRX", "solid", null, begin);
  await moveCursor(sql, "TRX", "solid", { ...begin, history: await historyOf(sql) }, {
    ...begin,
    height: 99,
    hash: "99",
  }, 94);
  const timers = new Timers(sql, () => {});
  const actor = await paymentActors({
    sql,
    timers,
    now: () => Date.now(),
    recheckMs: () => 1_000,
    wakeMerchant: (id) => journal.wake(id),
  }).activate(deposit?.["id"] as string);
  await actor.receive({ type: "timer", name: "expiry" });
  assertEquals(
    await sql`SELECT 1 FROM book.inbox WHERE phase = 'vanished'`.then((r) => r.length),
    0,
  );
  const [row] = await sql`SELECT status FROM book.deposit`;
  assertEquals(row?.["status"], "PENDING");
  await journal.stop(1_000);
});
