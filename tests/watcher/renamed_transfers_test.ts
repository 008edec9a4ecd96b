import { configure, type LogRecord, reset } from "@logtape/logtape";
import { assertEquals, assertRejects } from "@std/assert";
import { claimTransaction } from "../../actors/watcher/claim_transaction.ts";
import { readHealth } from "../../ledger/database/read_health.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import type { Network } from "../../ledger/money/pair.ts";
import {
  acknowledgeQuarantined,
  listQuarantine,
  retryQuarantined,
} from "../../ledger/quarantine.ts";
import { setDepositProofRule } from "../../ledger/watcher/deposit_proof_rule.ts";
import { proveTransfer, readAwaitedProof } from "../../ledger/watcher/deposit_proofs.ts";
import type { TransferFinding } from "../../ledger/watcher/findings.ts";
import { recordTransfers } from "../../ledger/watcher/record_transfers.ts";
import { findMisnamed } from "../../ledger/watcher/renamed_transfers.ts";
import { addMerchant, amount, booksFaults, openJournal, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { transferFinding } from "./support/transfer_finding.ts";

const test = testNeeding(DATABASE);
const TRUE_ID = `0x${"a".repeat(64)}`;
const FALSE_ID = `0x${"b".repeat(64)}`;
const AUDIT = {
  id: "aud_1",
  merchantId: "mer_1",
  actor: "ana",
  action: "inbox.acknowledge",
  subject: "row",
  requestId: null,
  createdAt: 1_700_000_000_000,
};

/** Books with a merchant, and what records transfers of 700 to it and waits until they are heard. */
async function openBooks() {
  const network: Network = "ETH";
  const database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await sql`UPDATE book.pair SET deposits_enabled = true WHERE network = ${network}`;
  const found = (txid: string, fields: Partial<TransferFinding> = {}) =>
    transferFinding(merchantId, txid, { blockLog: 3, ...fields });
  const heard = async () => {
    journal.wake(merchantId);
    await until(async () => {
      const rows = await sql`
        SELECT FROM book.inbox WHERE consumed_at IS NULL AND quarantine IS NULL`;
      return rows.length === 0;
    });
  };
  const record = async (phase: "seen" | "solid", ...findings: readonly TransferFinding[]) => {
    await recordTransfers(sql, network, phase, findings);
    await heard();
  };
  return {
    sql,
    merchantId,
    found,
    heard,
    record,
    deposits: () => depositsOf(sql),
    waiting: async () =>
      (await listQuarantine(sql, {}, { limit: 10, page: 1 })).rows.map(({ txid, reason }) => [
        txid,
        reason.split(":", 1)[0],
      ]),
    [Symbol.asyncDispose]: async () => {
      await journal.stop(1_000);
      await database[Symbol.asyncDispose]();
    },
  };
}

async function depositsOf(sql: Sql) {
  const rows = await sql<{ txid: string; status: string }[]>`
    SELECT txid, status FROM book.deposit ORDER BY seq`;
  return rows.map(({ txid, status }) => [txid, status]);
}

test("a transfer that is booked is not booked by another id: it is quarantined, told, and acknowledged only", async () => {
  await using books = await openBooks();
  const { sql, merchantId, found, record } = books;
  await record("solid", found(FALSE_ID));
  // a rescan by an honest node, twice; its newest blocks have announced the transfer
  await record("seen", found(TRUE_ID));
  for (let scan = 0; scan < 2; scan++) await record("solid", found(TRUE_ID));
  assertEquals(await books.deposits(), [[FALSE_ID, "CONFIRMED"], [TRUE_ID, "PENDING"]]);
  assertEquals(await books.waiting(), [[TRUE_ID, "renamed"]]);
  assertEquals((await readHealth(sql, 60)).quarantinedRows, 1);
  assertEquals(await booksFaults(sql), []);
  const [row] =
    await sql`SELECT data ->> 'bookedAs' AS other FROM book.inbox WHERE quarantine IS NOT NULL`;
  assertEquals(row?.["other"], FALSE_ID);

  const key = { merchantId, network: "ETH", txid: TRUE_ID, logIndex: 0, phase: "solid" } as const;
  const audit = { ...AUDIT, merchantId };
  assertEquals(await retryQuarantined(sql, key, audit), "not_so");
  await assertRejects(
    () => sql`UPDATE book.inbox SET quarantine = NULL WHERE txid = ${TRUE_ID}`,
    Error,
    "inbox_of_taken_place_waits",
  );
  assertEquals(await acknowledgeQuarantined(sql, key, "the same transfer", audit), "done");
  await books.heard();
  assertEquals(await books.deposits(), [[FALSE_ID, "CONFIRMED"], [TRUE_ID, "FAILED"]]);
  assertEquals(await booksFaults(sql), []);
});

test("a claim of a transfer that is booked by another id credits nothing, and says that blocks cannot be relied on", async () => {
  await using books = await openBooks();
  const { sql, merchantId, found, record } = books;
  await record("solid", found(FALSE_ID));
  await sql`
    INSERT INTO hub.cursor (network, view, height, hash, time, previous_time, tick, previous_tick)
    VALUES ('ETH', 'solid', 9, 'block 9', now(), now(), 9, 8)`;
  await sql`
    INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
    VALUES ('receiver', 'ETH', ${merchantId}, 'adr_1', 0)`;
  const { from: eventFrom, to: eventTo, ...transfer } = found(TRUE_ID);
  const transaction = {
    txid: TRUE_ID,
    success: true,
    height: 5,
    time: 0,
    transfers: [{ ...transfer, eventFrom, eventTo }],
  };
  const chain = paperChain("ETH", {
    transaction: () => Promise.resolve({ kind: "found", transaction } as never),
  });
  const deps = { sql, chain, network: "ETH" as const, stopped: null, wake: () => {} };
  const claim = await claimTransaction(deps, merchantId, TRUE_ID, 10_000);
  assertEquals(claim.status, "in_doubt");
  assertEquals(await books.deposits(), [[FALSE_ID, "CONFIRMED"]]);
});

test("a transfer that a node tells by the id of one that is booked is found, and credited once its block is read by its own id", async () => {
  await using books = await openBooks();
  const { sql, found, record } = books;
  const misnamed = found(FALSE_ID, { height: 6, hash: "block 6" });
  await record("solid", found(FALSE_ID), misnamed);
  assertEquals(await books.deposits(), [[FALSE_ID, "CONFIRMED"]]);
  const read = [found(FALSE_ID), misnamed, found(TRUE_ID, { height: 6 })];
  assertEquals([...(await findMisnamed(sql, "ETH", read)).keys()], [misnamed]);
  await record("solid", found(TRUE_ID, { height: 6, hash: "block 6" }));
  assertEquals(await books.deposits(), [[FALSE_ID, "CONFIRMED"], [TRUE_ID, "CONFIRMED"]]);
});

test("of two ids of one place that are recorded at once one is booked", async () => {
  await using books = await openBooks();
  const { sql, found } = books;
  await Promise.all([FALSE_ID, TRUE_ID].map((txid) => books.record("solid", found(txid))));
  assertEquals((await books.deposits()).length, 1);
  assertEquals((await books.waiting()).length, 1);
  await assertRejects(
    () =>
      sql`
      INSERT INTO book.sweep_item (merchant_id, network, txid, log_index, address, currency, amount, height, block_log)
      SELECT merchant_id, network, 'third', log_index, address, currency, amount, height, block_log FROM book.sweep_item`,
    Error,
    "sweep_item_place",
  );
});

test("a newest block that has vanished keeps no transfer of the block in its place out", async () => {
  await using books = await openBooks();
  const { found, record } = books;
  await record("seen", found(FALSE_ID));
  await record("solid", found(TRUE_ID));
  assertEquals(await books.deposits(), [[FALSE_ID, "PENDING"], [TRUE_ID, "CONFIRMED"]]);
  assertEquals(await books.waiting(), []);
});

test("a transfer whose place was one's of a vanished final block is credited by a rescan once that one is written off", async () => {
  await using books = await openBooks();
  const { sql, found, record } = books;
  await record("solid", found(FALSE_ID));
  await record("solid", found(TRUE_ID));
  await sql.begin(async (tx) => {
    await tx`
      INSERT INTO book.sweep_write_off VALUES ('aud_w', 'ETH', 'receiver', 'USDT', 700, 700, 9, 'gone', 'ana', now())`;
    await tx`UPDATE book.sweep_item SET done = true, write_off = 'aud_w' WHERE txid = ${FALSE_ID}`;
  });
  await record("solid", found(TRUE_ID));
  assertEquals(await books.deposits(), [[FALSE_ID, "CONFIRMED"], [TRUE_ID, "CONFIRMED"]]);
  assertEquals(await books.waiting(), []);
  const [item] = await sql`SELECT done FROM book.sweep_item WHERE txid = ${TRUE_ID}`;
  assertEquals(item?.["done"], false);
});

test("a large transfer that a second node has proven by another id than it is booked by is not credited again", async () => {
  await using books = await openBooks();
  const { sql, merchantId, found, record } = books;
  await setDepositProofRule(sql, "ETH", amount("500"));
  await record("solid", found(FALSE_ID), found(TRUE_ID));
  const evidence = { node: "second", height: 5, hash: "block 5", askedAt: Date.now() };
  for (const txid of [TRUE_ID, FALSE_ID]) {
    const awaited = await readAwaitedProof(sql, { merchantId, network: "ETH", txid, logIndex: 0 });
    if (awaited === null) throw new Error(`Cannot prove a transfer that does not wait: ${txid}`);
    await proveTransfer(sql, "ETH", awaited, evidence);
  }
  await books.heard();
  const credited = (await books.deposits()).filter(([, status]) => status === "CONFIRMED");
  assertEquals(credited, [[TRUE_ID, "CONFIRMED"]]);
  assertEquals(await books.waiting(), [[FALSE_ID, "renamed"]]);
  // one that is read after the other is booked waits for no proof
  await record("solid", found(`0x${"c".repeat(64)}`));
  assertEquals((await books.waiting()).map(([, kind]) => kind), ["renamed", "renamed"]);
});

test("transfers of one block in different places are all booked, and so are those without a proven place", async () => {
  await using books = await openBooks();
  const { found, record } = books;
  const places = [{}, { blockLog: 4 }, { height: 6 }, { blockLog: null }, { blockLog: null }];
  await record("solid", ...places.map((place, n) => found(`0x${`${n}`.repeat(64)}`, place)));
  assertEquals((await books.deposits()).map(([, status]) => status), places.map(() => "CONFIRMED"));
  assertEquals(await books.waiting(), []);
});

for (const isLargeFirst of [true, false]) {
  test(`of two transfers that a node tells by one id in blocks read together, the ${isLargeFirst ? "first" : "second"} of which needs a proof, each is credited as it is`, async () => {
    await using books = await openBooks();
    const { sql, merchantId, found, record } = books;
    await setDepositProofRule(sql, "ETH", amount("500"));
    const small = { amount: amount("300"), height: isLargeFirst ? 6 : 4, hash: "another block" };
    const large = { amount: amount("700") };
    const told = [found(FALSE_ID, large), found(FALSE_ID, small)];
    await record("solid", ...isLargeFirst ? told : told.toReversed());
    const prove = async () => {
      const rows = await sql<{ txid: string }[]>`
        SELECT txid FROM book.deposit_proof WHERE evidence IS NULL`;
      for (const { txid } of rows) {
        const awaited = await readAwaitedProof(sql, {
          merchantId,
          network: "ETH",
          txid,
          logIndex: 0,
        });
        if (awaited === null) throw new Error(`Cannot prove what does not wait: ${txid}`);
        const evidence = { node: "second", height: 5, hash: "block 5", askedAt: Date.now() };
        await proveTransfer(sql, "ETH", awaited, evidence);
      }
      await books.heard();
    };
    await prove();
    // both blocks by an honest node: the id is the first one's own
    await record("solid", found(FALSE_ID, isLargeFirst ? large : small));
    await record("solid", found(TRUE_ID, isLargeFirst ? small : large));
    await prove();
    assertEquals(await books.waiting(), []);
    const rows = await sql<{ line: string }[]>`
      SELECT d.txid || ' ' || trim_scale(d.amount) || ' ' || d.status || ' ' || trim_scale(i.amount) AS line
      FROM book.deposit d JOIN book.sweep_item i ON i.txid = d.txid ORDER BY d.amount`;
    assertEquals(
      rows.map(({ line }) => line),
      isLargeFirst
        ? [`${TRUE_ID} 300 CONFIRMED 300`, `${FALSE_ID} 700 CONFIRMED 700`]
        : [`${FALSE_ID} 300 CONFIRMED 300`, `${TRUE_ID} 700 CONFIRMED 700`],
    );
    assertEquals(await booksFaults(sql), []);
  });
}

test("a transfer that is told by the id of one that waits for a proof, in a later block or the same reading, is told with both", async () => {
  await using books = await openBooks();
  const { sql, found, record } = books;
  await setDepositProofRule(sql, "ETH", amount("500"));
  const later = found(FALSE_ID, { amount: amount("300"), height: 6, hash: "block 6" });
  const records: LogRecord[] = [];
  await configure({
    sinks: { kept: (record) => records.push(record) },
    loggers: [
      { category: ["engine", "deposit"], lowestLevel: "fatal", sinks: ["kept"] },
      { category: ["logtape", "meta"], lowestLevel: "error", sinks: ["kept"] },
    ],
  });
  try {
    await record("solid", found(FALSE_ID), later);
    await record("solid", later);
    await record("solid", later);
    await record("solid", found(FALSE_ID));
  } finally {
    await reset();
  }
  const told = records.map((
    { properties: { event, height, amount, bookedHeight, bookedAmount } },
  ) => [
    event,
    height,
    amount,
    bookedHeight,
    bookedAmount,
  ]);
  const [small, large] = ["300", "700"];
  assertEquals(told, [
    ["deposit.misnamed", 6, small, 5, large],
    ["deposit.misnamed", 6, small, 5, large],
    ["deposit.misnamed", 5, large, 6, small],
  ]);
});

test("a large transfer that was proven while its place was another's is credited once that one is written off and its block is read again", async () => {
  await using books = await openBooks();
  const { sql, merchantId, found, record } = books;
  await setDepositProofRule(sql, "ETH", amount("500"));
  await record("solid", found(FALSE_ID), found(TRUE_ID));
  const evidence = { node: "second", height: 5, hash: "block 5", askedAt: Date.now() };
  const prove = async (txid: string) => {
    const awaited = await readAwaitedProof(sql, { merchantId, network: "ETH", txid, logIndex: 0 });
    if (awaited !== null) await proveTransfer(sql, "ETH", awaited, evidence);
    await books.heard();
    return awaited !== null;
  };
  for (const txid of [FALSE_ID, TRUE_ID]) await prove(txid);
  assertEquals(await books.waiting(), [[TRUE_ID, "renamed"]]);
  await sql.begin(async (tx) => {
    await tx`
      INSERT INTO book.sweep_write_off VALUES ('aud_w', 'ETH', 'receiver', 'USDT', 700, 700, 9, 'gone', 'ana', now())`;
    await tx`UPDATE book.sweep_item SET done = true, write_off = 'aud_w' WHERE txid = ${FALSE_ID}`;
  });
  await record("solid", found(TRUE_ID));
  assertEquals(await prove(TRUE_ID), true, "it waits for its proof again");
  assertEquals(await books.deposits(), [[FALSE_ID, "CONFIRMED"], [TRUE_ID, "CONFIRMED"]]);
  assertEquals(await books.waiting(), []);
});
