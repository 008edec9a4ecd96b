/** One transfer that nodes tell by two ids: it is credited once, by the scan or by hand, and never not at all. @module */

import { assertEquals, assertRejects } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { acknowledgeQuarantined, retryQuarantined } from "../../ledger/quarantine.ts";
import { recordSweepItems } from "../../ledger/sweeps/items.ts";
import type { TransferFinding } from "../../ledger/watcher/findings.ts";
import { recordTransfers } from "../../ledger/watcher/record_transfers.ts";
import { findMisnamed } from "../../ledger/watcher/renamed_transfers.ts";
import { addMerchant, amount, booksFaults, openJournal, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { transferFinding } from "./support/transfer_finding.ts";

const test = testNeeding(DATABASE);
const TRUE_ID = `0x${"a".repeat(64)}`;
const FALSE_ID = `0x${"b".repeat(64)}`;

/** Books with a merchant, and a transfer of 700 to it, by whatever id. */
async function openBooks() {
  const database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await sql`UPDATE book.pair SET deposits_enabled = true WHERE network = 'ETH'`;
  const found = (txid: string, fields: Partial<TransferFinding> = {}) =>
    transferFinding(merchantId, txid, { blockLog: 3, ...fields });
  const record = async (txid: string, fields: Partial<TransferFinding> = {}) => {
    await recordTransfers(sql, "ETH", "solid", [found(txid, fields)]);
    journal.wake(merchantId);
    await until(async () =>
      (await sql`SELECT FROM book.inbox WHERE consumed_at IS NULL AND quarantine IS NULL`)
        .length ===
        0
    );
  };
  let depositId = newId("dep");
  return {
    sql,
    merchantId,
    found,
    record,
    depositId,
    /** Makes a deposit by hand that names a transaction, or none. @returns how that ended */
    create: async (txid: string | null = TRUE_ID, of = "700") => {
      if (txid !== TRUE_ID) depositId = newId("dep");
      return kindOf(
        await journal.ask(merchantId, {
          type: "create-deposit",
          at: Date.now(),
          depositId,
          transactionId: newId("txn"),
          currency: "USDT",
          network: "ETH",
          amount: amount(of),
          source: "bank",
          description: null,
          metadata: {},
          depositAddressId: null,
          txid,
          usdRate: "1",
        }, 60_000),
      );
    },
    /** Confirms it. @returns how that ended */
    confirm: async () =>
      kindOf(
        await journal.ask(merchantId, {
          type: "decide-deposit",
          at: Date.now(),
          depositId,
          to: "CONFIRMED",
          reason: null,
          chargeIds: [newId("chg"), newId("chg")],
          eventIds: [newId("evt"), newId("evt")],
          ingestion: null,
        }, 60_000),
      ),
    credited: async () => {
      const [row] = await sql<{ available: string }[]>`
        SELECT trim_scale(available)::text AS available FROM book.balance
        WHERE merchant_id = ${merchantId}`;
      return row?.available ?? "0";
    },
    [Symbol.asyncDispose]: async () => {
      await journal.stop(1_000);
      await database[Symbol.asyncDispose]();
    },
  };
}

function kindOf(outcome: { readonly kind: string; readonly refusal?: { readonly code: string } }) {
  return outcome.refusal?.code ?? outcome.kind;
}

for (const isClaimedFirst of [false, true]) {
  const when = isClaimedFirst ? "that was made before it was read" : "that is made afterwards";
  test(`a transfer that is credited by another id is not credited by a deposit by hand ${when}`, async () => {
    await using books = await openBooks();
    const { sql, record, create, confirm } = books;
    if (isClaimedFirst) assertEquals(await create(), "done");
    await record(FALSE_ID);
    await record(TRUE_ID);
    if (!isClaimedFirst) assertEquals(await create(), "done");
    assertEquals(await confirm(), "transfer_of_another");
    assertEquals(await books.credited(), "700");
    await assertRejects(
      () =>
        sql`
          UPDATE book.deposit SET status = 'CONFIRMED', cleared_at = now() WHERE id = ${books.depositId}`,
      Error,
      "Cannot confirm a deposit by hand",
    );
    assertEquals(await booksFaults(sql), []);
  });
}

test("a transfer that is credited by hand before an honest node tells its id is found by the comparison of the books", async () => {
  await using books = await openBooks();
  const { sql, record, create, confirm } = books;
  await record(FALSE_ID);
  assertEquals([await create(), await confirm()], ["done", "done"]);
  assertEquals(await booksFaults(sql), []);
  await record(TRUE_ID);
  assertEquals((await booksFaults(sql)).length, 1);
});

test("a place in a block is taken by what is booked alone: what could not be written leaves it to the true transfer", async () => {
  await using books = await openBooks();
  const { sql, record, found } = books;
  await sql`
    CREATE FUNCTION book.refuse_false() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'the process dies here'; END $$`;
  await sql.unsafe(
    `CREATE TRIGGER refuse_false BEFORE INSERT ON book.inbox FOR EACH ROW
      WHEN (NEW.txid = '${FALSE_ID}') EXECUTE FUNCTION book.refuse_false()`,
  );
  await assertRejects(
    () => recordTransfers(sql, "ETH", "solid", [found(FALSE_ID)]),
    Error,
    "the process dies here",
  );
  await record(TRUE_ID);
  assertEquals(await books.credited(), "700");
  const items = await sql<{ txid: string }[]>`SELECT txid FROM book.sweep_item`;
  assertEquals(items.map(({ txid }) => txid), [TRUE_ID]);
  assertEquals(await booksFaults(sql), []);
});

test("a true transfer that waits for what was never booked is found by the comparison of the books, and is credited by hand", async () => {
  await using books = await openBooks();
  const { sql, record, found, create, confirm, merchantId } = books;
  // as an earlier release has left it
  await recordSweepItems(sql, "ETH", [found(FALSE_ID)]);
  await record(TRUE_ID);
  const key = { merchantId, network: "ETH", txid: TRUE_ID, logIndex: 0, phase: "solid" } as const;
  const audit = {
    id: "aud_1",
    merchantId,
    actor: "ana",
    action: "inbox.retry",
    subject: "row",
    requestId: null,
    createdAt: 1_700_000_000_000,
  };
  assertEquals(await retryQuarantined(sql, key, audit), "not_so");
  assertEquals((await booksFaults(sql)).length, 1);
  assertEquals([await create(), await confirm()], ["done", "done"]);
  assertEquals(await books.credited(), "700");
});

test("a transfer whose id an earlier one was booked by is told with both amounts, and a deposit by hand that names neither credits it once", async () => {
  await using books = await openBooks();
  const { sql, record, found, create, confirm, merchantId } = books;
  const later = { height: 6, hash: "block 6", amount: amount("500") };
  await record(FALSE_ID);
  // from here on the node is honest: the id is the later one's own
  const readAll = async () => {
    await record(FALSE_ID, later);
    await record(TRUE_ID);
  };
  await readAll();
  assertEquals(await books.credited(), "700");
  const told = found(FALSE_ID, later);
  const [booked] = (await findMisnamed(sql, "ETH", [told])).values();
  assertEquals([booked?.height, booked?.amount], [5, amount("700")]);
  assertEquals([await create(), await confirm()], ["done", "transfer_of_another"]);
  assertEquals(await create(FALSE_ID, "500"), "transfer_known");
  assertEquals([await create(null, "500"), await confirm()], ["done", "done"]);
  const key = { merchantId, network: "ETH", txid: TRUE_ID, logIndex: 0, phase: "solid" } as const;
  const audit = {
    id: "aud_1",
    merchantId,
    actor: "ana",
    action: "inbox.acknowledge",
    subject: "row",
    requestId: null,
    createdAt: 1_700_000_000_000,
  };
  assertEquals(await acknowledgeQuarantined(sql, key, "credited", audit), "done");
  await readAll();
  assertEquals(await books.credited(), "1200");
  assertEquals(await booksFaults(sql), []);
});
