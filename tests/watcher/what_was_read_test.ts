import { assertEquals, assertRejects } from "@std/assert";
import { claimTransaction } from "../../actors/watcher/claim_transaction.ts";
import { ScanMemory } from "../../actors/watcher/scan_memory.ts";
import { scanSolid } from "../../actors/watcher/solid_scan.ts";
import type { BlockAnswer } from "../../chains/chain.ts";
import { moveCursor, readCursor } from "../../ledger/watcher/cursor.ts";
import { amount, SOMEWHERE } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { eventAddressOf, paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { addWatched } from "./support/watch.ts";
import { historyOf } from "../support/scan_cursor.ts";

const test = testNeeding(DATABASE);

const START = 1_700_000_000_000;
const timeOf = (height: number) => START + height * 3_000;

/** An empty block. */
function emptyBlock(height: number): Extract<BlockAnswer, { kind: "block" }> {
  const [hash, parentHash] = [String(height), String(height - 1)];
  const parentHeight = height - 1;
  const block = {
    height,
    parentHeight,
    hash,
    parentHash,
    time: timeOf(height),
    tick: timeOf(height),
    transactions: [],
    transfers: [],
  };
  return { kind: "block", block };
}

/** A transfer of 1 USDT to the watched address. */
const transferOf = (txid: string) => ({
  txid,
  logIndex: 0,
  currency: "USDT" as const,
  eventFrom: "sender",
  eventTo: eventAddressOf(SOMEWHERE),
  amount: amount("1"),
  diesAfter: START,
  expiresAt: START,
});

const begin = (height: number) => ({
  height,
  hash: String(height),
  time: timeOf(height),
  previousTime: timeOf(height - 1),
  tick: timeOf(height),
  previousTick: timeOf(height - 1),
});

for (const blocks of [1, 2, 5]) {
  test(`the cursor keeps the time of the block before the one it is at, of ${blocks} read at once`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    await moveCursor(sql, "TRX", "solid", null, begin(7));
    const newest = emptyBlock(7 + blocks).block;
    const chain = paperChain("TRX", {
      solid: () => Promise.resolve(newest),
      async *blocks(from, to) {
        for (let height = from; height <= to; height++) yield await emptyBlock(height);
      },
    });
    const memory = new ScanMemory(chain, () => START);
    const nothing = () => {};
    await scanSolid({
      sql,
      chain,
      memory,
      wakeMerchants: nothing,
      onReached: nothing,
      onSolid: nothing,
    });
    const cursor = await readCursor(sql, "TRX", "solid");
    assertEquals(cursor, { ...begin(7 + blocks), history: await historyOf(sql) });
  });
}

test("the cursor stays where it is while what blocks say cannot be written", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await addWatched(sql, SOMEWHERE);
  await moveCursor(sql, "TRX", "solid", null, begin(7));
  const { block } = emptyBlock(8);
  const paying = {
    ...block,
    transactions: [{ txid: "aa", success: true, failure: null, fee: amount("0") }],
    transfers: [transferOf("aa")],
  };
  const chain = paperChain("TRX", {
    solid: () => Promise.resolve(block),
    async *blocks() {
      yield await { kind: "block", block: paying };
    },
  });
  const nothing = () => {};
  const scan = () => {
    const memory = new ScanMemory(chain, () => START);
    return scanSolid({
      sql,
      chain,
      memory,
      wakeMerchants: nothing,
      onReached: nothing,
      onSolid: nothing,
    });
  };
  await sql`ALTER TABLE book.inbox ADD CONSTRAINT unwritable CHECK (false) NOT VALID`;
  await assertRejects(scan, Error, "unwritable");
  assertEquals((await readCursor(sql, "TRX", "solid"))?.height, 7);
  await sql`ALTER TABLE book.inbox DROP CONSTRAINT unwritable`;
  await scan();
  assertEquals((await readCursor(sql, "TRX", "solid"))?.height, 8);
  const rows = await sql<{ txid: string; phase: string }[]>`SELECT txid, phase FROM book.inbox`;
  assertEquals([...rows], [{ txid: "aa", phase: "solid" }]);
});

test("a claimed transaction counts up to the block that the scan has passed, and not one above", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const merchantId = await addWatched(sql, SOMEWHERE);
  await moveCursor(sql, "TRX", "solid", null, begin(7));
  const claimAt = async (height: number) => {
    const transaction = {
      txid: "aa",
      success: true,
      failure: null,
      fee: amount("0"),
      height,
      time: timeOf(height),
      transfers: [transferOf("aa")],
    };
    const chain = paperChain("TRX", {
      transaction: () => Promise.resolve({ kind: "found", transaction }),
    });
    const deps = { sql, chain, network: "TRX" as const, stopped: null, wake: () => {} };
    return (await claimTransaction(deps, merchantId, "aa", 1)).status;
  };
  assertEquals(await claimAt(8), "not_final");
  assertEquals((await sql`SELECT FROM book.inbox`).length, 0);
  assertEquals(await claimAt(7), "recorded");
});
