/** The comparison of newest blocks with the books: what it waits for, and for how long. @module */

import { assertEquals, assertRejects } from "@std/assert";
import { isBehindSigning, type WatcherStatus } from "../../actors/watcher/scan_memory.ts";
import { watcherActors } from "../../actors/watcher/watcher_actor.ts";
import { chainReasons } from "../../app/health/chains.ts";
import { kindOf } from "../../app/health/reason_table.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { PAPER_BLOCK } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { blockAt, MINUTE, openStart, SOLID } from "./support/head_start.ts";

const test = testNeeding(DATABASE);

/** Sets the number of signed batches back, as no statement of the service can. */
async function setBackTo(sql: Sql, batches: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`UPDATE book.signing_turn SET batches = ${batches}`;
  });
}

test("a transfer that the books have never signed holds signing until half a minute of blocks above the newest is read, and newer blocks hold it no longer", async () => {
  await using start = await openStart();
  start.said.newest = SOLID + 2;
  start.said.blocks = [blockAt(SOLID + 1, ["unknown"]), blockAt(SOLID + 2)];
  assertEquals(isBehindSigning(start.memory.status), true, "before it is compared");
  assertEquals(await start.look(), true);
  assertEquals(start.memory.status.signsFrom, SOLID + 12);
  start.said.newest = SOLID + 100;
  start.memory.recordRead(SOLID + 11, 1);
  assertEquals(await start.look(), true);
  start.memory.recordRead(SOLID + 12, 1);
  assertEquals(await start.look(), false);
});

test("newest blocks without transfers out of own wallets hold nothing, and are compared once", async () => {
  await using start = await openStart();
  start.said.newest = SOLID + 1;
  start.said.blocks = [blockAt(SOLID + 1)];
  assertEquals(await start.look(), false);
  start.said.newest = SOLID + 2;
  start.said.blocks = [blockAt(SOLID + 2, ["unknown"])];
  assertEquals([await start.look(), start.said.asked], [false, 1]);
});

test("newest blocks of a node that takes some seconds for each answer are compared all the same", async () => {
  await using start = await openStart();
  const { said } = start;
  said.newest = SOLID + 1;
  said.blocks = [blockAt(SOLID + 1, ["unknown"])];
  said.answersAfterMs = 2_800;
  assertEquals([await start.look(), start.memory.comparison.awaited], [true, SOLID + 11]);
});

test("a cursor that goes back has newest blocks compared again, once the scan has read what it had", async () => {
  await using start = await openStart();
  assertEquals(await start.look(), false);
  start.memory.recordRead(SOLID - 3, 1);
  assertEquals([await start.look(), start.said.asked], [true, 1]);
  start.said.newest = SOLID + 1;
  start.said.blocks = [blockAt(SOLID + 1, ["unknown"])];
  start.memory.recordRead(SOLID, 1);
  assertEquals(await start.look(), true);
  assertEquals(start.memory.status.signsFrom, SOLID + 11);
});

test("where fewer batches are signed than before, nothing is signed until newest blocks are compared anew", async () => {
  await using start = await openStart();
  const { sql, chain } = start;
  const told: (WatcherStatus["comparison"] | undefined)[] = [];
  const { solid, maySign } = watcherActors({
    sql,
    chains: new Map([["TRX", chain]]),
    nodes: () => [],
    now: Date.now,
    monotonic: () => 1_000,
    wakeMerchants: () => {},
    onSolid: () => {},
    onStatus: (_, { comparison }) => told.push(comparison),
    again: () => {},
  });
  const scan = await solid.activate("TRX");
  await scan.receive({ type: "tick" });
  assertEquals([maySign("TRX", 7n), maySign("TRX", 8n), told.at(-1)], [true, true, "over"]);
  assertEquals([maySign("TRX", 7n), told.at(-1), maySign("TRX", 8n)], [false, "due", false]);
  await sql`INSERT INTO book.signing_turn (network, node, until, batches) VALUES ('TRX', 'node', now(), 8)`;
  await scan.receive({ type: "tick" });
  assertEquals([maySign("TRX", 8n), start.said.asked], [true, 2]);
  await setBackTo(sql, 7);
  await scan.receive({ type: "tick" });
  assertEquals([maySign("TRX", 7n), start.said.asked], [true, 3], "found by the scan's own look");
});

test("nodes that do not show a newest block hold signing for a minute of tries and tell it, then what was compared counts", async () => {
  await using start = await openStart();
  const { memory, clock, said } = start;
  said.newest = SOLID + 2;
  const engine = { nodes: () => [], watched: new Map([["TRX", memory.status] as const]) };
  const told = () => {
    engine.watched.set("TRX", memory.status);
    return chainReasons(engine, "TRX", PAPER_BLOCK.time, 0).map(kindOf);
  };
  assertEquals(told(), []);
  for (let tries = 1; tries < 12; tries++) {
    assertEquals(await start.look(), true);
    assertEquals(told(), tries === 1 ? [] : ["scan_awaited"]);
    clock.now += MINUTE / 10;
  }
  assertEquals(await start.look(), false);
  assertEquals(told(), []);
});

test("where the newest block of all nodes is behind the clock for a minute of tries, signing waits for the blocks that it lacks", async () => {
  await using start = await openStart();
  const { memory, clock, said } = start;
  said.newest = SOLID + 2;
  said.blocks = [blockAt(SOLID + 1), blockAt(SOLID + 2)];
  said.behindMs = 90_000;
  for (let tries = 1; tries <= 12; tries++) {
    assertEquals([await start.look(), memory.comparison.awaited], [
      true,
      tries < 12 ? 0 : SOLID + 42,
    ]);
    clock.now += MINUTE / 10;
  }
  memory.recordRead(SOLID + 41, PAPER_BLOCK.time + 119_999);
  assertEquals(await start.look(), true);
  memory.recordRead(SOLID + 42, PAPER_BLOCK.time + 119_999);
  // as much behind as before is the clock's fault
  for (let tries = 1; tries <= 12; tries++) {
    assertEquals(await start.look(), tries < 12);
    clock.now += MINUTE / 10;
  }
});

test("a node that catches up for hours holds signing and refunds until it has, however often the blocks that it lacked are read", async () => {
  await using start = await openStart();
  const { memory, clock, said } = start;
  for (let hours = 3; hours > 0; hours--) {
    said.behindMs = hours * 60 * MINUTE;
    said.newest += 1_000;
    for (let tries = 1; tries <= 12; tries++) {
      assertEquals(await start.look(), true);
      clock.now += MINUTE / 10;
    }
    assertEquals(memory.comparison.awaited, said.newest + 210);
    memory.recordRead(said.newest + 210, 1);
  }
  said.behindMs = 0;
  said.newest = SOLID;
  assertEquals(await start.look(), false);
});

test("a solid block that was made after nodes were behind the clock ends what they lack", async () => {
  await using start = await openStart();
  const { memory, clock, said } = start;
  said.behindMs = 180 * MINUTE;
  for (let tries = 1; tries <= 12; tries++) {
    await start.look();
    clock.now += MINUTE / 10;
  }
  memory.recordRead(SOLID + 3, PAPER_BLOCK.time + said.behindMs + 30_000);
  assertEquals(await start.look(), false);
});

test("where the newest block was behind the clock and nodes fall silent then, signing waits for the blocks that it lacks, unless newest blocks are compared anew", async () => {
  await using start = await openStart();
  const { memory, clock, said } = start;
  const look = async (tries: number) => {
    for (let i = 0; i < tries; i++) {
      await start.look();
      clock.now += MINUTE / 10;
    }
    return memory.comparison.awaited;
  };
  said.newest = SOLID + 2;
  said.behindMs = 90_000;
  assertEquals(await look(1), 0, "its blocks are not shown");
  said.newest = SOLID;
  assertEquals(await look(10), 0);
  said.isSilent = true;
  assertEquals(await look(1), SOLID + 42, "by the highest of these blocks");
  memory.recordRead(SOLID + 42, 1);
  said.isSilent = false;
  memory.comparison.begin();
  assertEquals(await look(1), 0);
  memory.comparison.begin();
  said.isSilent = true;
  assertEquals([await look(12), memory.comparison.state], [0, "over"]);
});

test("a block that is behind the clock once, and blocks of now then, hold nothing", async () => {
  await using start = await openStart();
  start.said.behindMs = 90_000;
  assertEquals(await start.look(), true);
  start.said.behindMs = 0;
  assertEquals(await start.look(), false);
});

test("a clock that is far ahead of newest blocks holds a start for ten minutes of blocks at most", async () => {
  await using start = await openStart();
  const { memory, clock, said } = start;
  said.behindMs = 24 * 60 * MINUTE;
  for (let tries = 1; tries <= 12; tries++) {
    await start.look();
    clock.now += MINUTE / 10;
  }
  assertEquals(memory.comparison.awaited, SOLID + 210);
  memory.recordRead(SOLID + 209, PAPER_BLOCK.time + said.behindMs + 29_999);
  assertEquals(memory.comparison.awaited, SOLID + 210, "by no block that is older than the tries");
});

test("what newest blocks have shown to be unknown counts, although nodes fall silent then", async () => {
  await using start = await openStart();
  const { said, clock } = start;
  said.newest = SOLID + 2;
  said.blocks = [blockAt(SOLID + 1, ["unknown"])];
  await start.look();
  said.isSilent = true;
  for (let tries = 1; tries < 12; tries++) {
    clock.now += MINUTE;
    await start.look();
  }
  assertEquals([start.memory.comparison.state, start.memory.status.signsFrom], [
    "over",
    SOLID + 11,
  ]);
});

test("a branch that is left is compared from the solid block up", async () => {
  await using start = await openStart();
  const { said } = start;
  said.newest = SOLID + 3;
  said.blocks = [blockAt(SOLID + 1), blockAt(SOLID + 2)];
  assertEquals(await start.look(), true);
  said.blocks = [blockAt(SOLID + 1, ["unknown"]), blockAt(SOLID + 2), blockAt(SOLID + 3, [], "x")];
  assertEquals([await start.look(), start.memory.comparison.state], [true, "failing"]);
  said.blocks = [blockAt(SOLID + 1, ["unknown"]), blockAt(SOLID + 2), blockAt(SOLID + 3)];
  await start.look();
  assertEquals(start.memory.status.signsFrom, SOLID + 13);
});

test("what was seen to be unknown is kept, although a block of no branch is shown then and nodes fall silent", async () => {
  await using start = await openStart();
  const { said, clock } = start;
  said.newest = SOLID + 2;
  said.blocks = [blockAt(SOLID + 1, ["unknown"])];
  await start.look();
  said.blocks = [blockAt(SOLID + 1, ["unknown"]), blockAt(SOLID + 2, [], "odd")];
  await start.look();
  said.isSilent = true;
  for (let tries = 2; tries < 12; tries++) {
    clock.now += MINUTE;
    await start.look();
  }
  assertEquals([start.memory.comparison.state, start.memory.status.signsFrom], [
    "over",
    SOLID + 11,
  ]);
});

test("a block that no chain has is waited for until a solid block is read that was made half a minute after it", async () => {
  await using start = await openStart();
  const { said, memory } = start;
  const lie = Array.from(
    { length: 300 },
    (_, n) => ({ ...blockAt(SOLID + 1 + n, n === 299 ? ["lie"] : []), time: PAPER_BLOCK.time }),
  );
  said.newest = SOLID + 300;
  said.blocks = lie;
  assertEquals([await start.look(), memory.status.signsFrom], [true, SOLID + 310]);
  memory.recordRead(SOLID + 9, PAPER_BLOCK.time + 29_999);
  assertEquals(await start.look(), true);
  memory.recordRead(SOLID + 10, PAPER_BLOCK.time + 30_000);
  assertEquals([await start.look(), memory.status.signsFrom], [false, SOLID + 10]);
});

test("what is no answer of nodes is thrown, and compared again", async () => {
  await using start = await openStart();
  const { said } = start;
  said.newest = SOLID + 1;
  said.blocks = [blockAt(SOLID + 1, ["unknown"])];
  await start.sql`ALTER TABLE book.attempt RENAME TO attempt_away`;
  await assertRejects(() => start.look(), Error, "book.attempt");
  await start.sql`ALTER TABLE book.attempt_away RENAME TO attempt`;
  assertEquals([await start.look(), start.memory.status.signsFrom], [true, SOLID + 11]);
});
