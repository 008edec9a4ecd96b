import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { SecondOpinion } from "../../actors/treasury/second_opinion.ts";
import { rescanBlocks } from "../../actors/watcher/rescan_blocks.ts";
import { ScanMemory } from "../../actors/watcher/scan_memory.ts";
import { scanSolid } from "../../actors/watcher/solid_scan.ts";
import type { Block } from "../../chains/chain.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { moveCursor, readCursor, readScannedRanges } from "../../ledger/watcher/cursor.ts";
import { testDatabase } from "../support/database.ts";
import { sparseBlock, sparseChain, tickAt, timeAt } from "../support/paper_family.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** Begins at block 7 and scans what a chain has. @returns height read, ranges, and why the scan stopped */
async function scanned(sql: Sql, blocks: readonly Block[]) {
  const begin = {
    height: 7,
    hash: "b7",
    time: timeAt(7),
    previousTime: timeAt(6),
    tick: tickAt(7),
    previousTick: tickAt(6),
  };
  await moveCursor(sql, "TRX", "solid", null, begin);
  const chain = sparseChain("TRX", blocks);
  const memory = new ScanMemory(chain, () => timeAt(0));
  const nothing = () => {};
  const { cursor } = await scanSolid({
    sql,
    chain,
    memory,
    wakeMerchants: nothing,
    onReached: () => {},
    onSolid: nothing,
  });
  const ranges = await readScannedRanges(sql, "TRX");
  return { height: cursor.height, ranges, stopped: memory.stopped };
}

test("heights that the chain passed by are covered by the block that names its parent", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const blocks = [sparseBlock(9, 7), sparseBlock(10, 9), sparseBlock(14, 10)];
  const { height, ranges, stopped } = await scanned(sql, blocks);
  assertEquals([height, stopped], [14, null]);
  assertEquals(ranges, [{ first: 8, last: 14 }]);
  const cursor = await readCursor(sql, "TRX", "solid");
  assertEquals([cursor?.tick, cursor?.previousTick], [tickAt(14), tickAt(10)]);
});

test("a block that is linked to its parent by hash and not by height stops the scan", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const blocks = [sparseBlock(9, 7), sparseBlock(14, 9, { parentHeight: 12 })];
  const { height, ranges, stopped } = await scanned(sql, blocks);
  assertEquals(height, 9);
  assertEquals(ranges, [{ first: 8, last: 9 }]);
  assertStringIncludes(stopped ?? "", "solid block 14 does not continue block 9");
});

test("the database refuses a range of which a block is missing, passed heights or not", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  await scanned(sql, [sparseBlock(9, 7)]);
  const cursor = await readCursor(sql, "TRX", "solid");
  assert(cursor !== null);
  const to = {
    height: 14,
    hash: "b14",
    time: timeAt(14),
    previousTime: timeAt(12),
    tick: tickAt(14),
    previousTick: tickAt(12),
  };
  // block 12 names 9 as its parent and covers three heights, block 14 covers two
  for (const covered of [1, 2, 3, 4, 6]) {
    await assertRejects(() => moveCursor(sql, "TRX", "solid", cursor, to, covered));
  }
  assertEquals(await moveCursor(sql, "TRX", "solid", cursor, to, 5), true);
});

test("blocks that are read again cover the heights between them, and no others", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const blocks = [sparseBlock(3, 1), sparseBlock(6, 3), sparseBlock(7, 6), sparseBlock(9, 7)];
  await scanned(sql, blocks);
  const deps = {
    sql,
    network: "TRX" as const,
    chain: sparseChain("TRX", blocks),
    wake: () => {},
    stopped: null,
  };
  const read = await rescanBlocks(deps, 4, 7, AbortSignal.timeout(10_000));
  assertEquals(read.kind === "read" && [read.blocks, read.through, read.failure], [2, 7, null]);
  assertEquals(await readScannedRanges(sql, "TRX"), [{ first: 4, last: 9 }]);
});

test("blocks that begin above the height that is to be read again leave it unread", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const blocks = [sparseBlock(6, 5), sparseBlock(7, 6), sparseBlock(9, 7)];
  await scanned(sql, blocks);
  const deps = {
    sql,
    network: "TRX" as const,
    chain: sparseChain("TRX", blocks),
    wake: () => {},
    stopped: null,
  };
  const read = await rescanBlocks(deps, 4, 7, AbortSignal.timeout(10_000));
  assertEquals([read.kind, read.through], ["in_doubt", 3]);
  assertEquals(await readScannedRanges(sql, "TRX"), [{ first: 8, last: 9 }]);
});

Deno.test("a second node testifies by the block before its own, however far below that is", async () => {
  const blocks = [sparseBlock(4, 3), sparseBlock(9, 4)];
  const chain = sparseChain("TRX", blocks);
  const opinion = new SecondOpinion([{ name: "second.example", chain }], () => timeAt(20));
  const expired = {
    outgoingId: "out_1",
    merchantId: "mer_1",
    txid: "aa",
    diesAfter: tickAt(4) - 1,
  };
  const mark = {
    height: 9,
    hash: "b9",
    time: timeAt(9),
    previousTime: timeAt(4),
    tick: tickAt(9),
    previousTick: tickAt(4),
    history: "1",
  };
  assertEquals((await opinion.ask([expired], mark)).get("aa")?.kind, "agreed");
});
