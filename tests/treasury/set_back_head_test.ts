/**
 * Nothing is signed that was paid in blocks above the solid ones, where the database was set back; a start that lost nothing
 * waits for none of them.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { createHmac } from "node:crypto";
import { ScanGate } from "../../actors/treasury/scan_gate.ts";
import { compareHead } from "../../actors/watcher/compare_head.ts";
import { ScanMemory } from "../../actors/watcher/scan_memory.ts";
import type { Chain } from "../../chains/chain.ts";
import { canonicalJson } from "../../api/upstream/webhook_event.ts";
import { chainReasons } from "../../app/health/chains.ts";
import { readSigningStop } from "../../ledger/failover/holds.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";
import { countingSigner } from "../properties/support/counting_signer.ts";
import { addressOf, INGEST_SECRET } from "../support/api.ts";
import { amount, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { copyOf, setBack } from "./support/set_back.ts";
import { LANE_NETWORK, openLane, type TestLane } from "./support/test_lane.ts";
import { openTreasuryRig, type TreasuryRig } from "./support/treasury_rig.ts";

const test = testNeeding(DATABASE);

/** Blocks of TRON from the newest to the last solid one. */
const SOLID_LAG = 19;

/** Makes blocks until one of the newest shows a payout. */
async function includeInHead(rig: TreasuryRig): Promise<void> {
  await until(async () => {
    await rig.control("/dev/mine", { blocks: 1, intervalMs: 1_000 });
    const [row] = await rig.sql`SELECT FROM book.attempt WHERE seen_height IS NOT NULL`;
    return row !== undefined;
  });
}

/** Tells the service that a payout has failed, for which its money is given back. */
async function askRefund({ api }: TreasuryRig, key: string, withdrawalId: string) {
  const body = { eventId: "e1", type: "withdrawal.failed", data: { withdrawalId } };
  const sign = createHmac("sha256", INGEST_SECRET).update(canonicalJson(body)).digest("hex");
  const headers = { "x-signature": sign, "x-timestamp": String(Date.now()) };
  return await api.call("POST", "/api/webhook/event", { key, body, headers });
}

test("a payout that is in a block which is not solid yet is not signed once more by books that were set back, nor given back, and the stop comes with that block", async () => {
  await using rig = await openTreasuryRig({ remembers: false, solidLag: SOLID_LAG });
  const { sql, api } = rig;
  const { id: merchantId, key } = await rig.merchant("2000");
  const admin = await api.addKey(null, { permissions: ["admin:write"] });
  const receiver = addressOf(0xbeef);
  const copy = await copyOf(sql, "TRX");
  await rig.mine(60);
  const paid = await rig.withdraw(key, "500", receiver);
  await until(async () => (await rig.payout(paid)).status === "signed");
  await includeInHead(rig);
  await rig.halt();
  await setBack(sql, copy);
  await rig.restart();
  const reasons = () => chainReasons(rig.engine, "TRX", Date.now());
  await until(() => rig.engine.watched.get("TRX")?.comparison === "over");
  const [reason = ""] = reasons();
  assertMatch(reason, /^TRX signs nothing before block \d+ is read, \d+ are left$/);
  const refund = await askRefund(rig, admin, paid);
  assertEquals([refund.status, await readSigningStop(sql, "TRX")], [503, null]);
  assertMatch(refund.body.message, /may have been paid already .* not given back yet/);
  assertEquals([refund.body.error, refund.body.code], ["Service unavailable", "unavailable"]);
  await until(async () => {
    assertEquals((await rig.payout(paid)).outcomes, []);
    await rig.control("/dev/mine", { blocks: 1, intervalMs: 1_000 });
    return await readSigningStop(sql, "TRX") !== null;
  });
  await rig.mine(30);
  assertMatch(await readSigningStop(sql, "TRX") ?? "", /do not know/);
  assertEquals((await rig.payout(paid)).status, "queued");
  assertEquals(await rig.chain.balanceOf(receiver, "USDT"), amount("500"), "once");
  const [held] =
    await sql`SELECT reserved::int FROM book.balance WHERE merchant_id = ${merchantId}`;
  assertEquals(held, { reserved: 500 });
});

test("a payout that was paid is not given back by a service that runs on while its nodes are silent and its database is set back", async () => {
  await using rig = await openTreasuryRig({ remembers: false, solidLag: SOLID_LAG });
  const { sql, api } = rig;
  const { id: merchantId, key } = await rig.merchant("2000");
  const admin = await api.addKey(null, { permissions: ["admin:write"] });
  const receiver = addressOf(0xbeef);
  const copy = await copyOf(sql, "TRX");
  const paid = await rig.withdraw(key, "500", receiver);
  await until(async () => (await rig.payout(paid)).status === "signed");
  await includeInHead(rig);
  await rig.setFaults([{ path: "*", kind: "error-500" }]);
  await setBack(sql, copy);
  assertEquals((await askRefund(rig, admin, paid)).status, 503);
  await rig.setFaults([]);
  await until(async () => {
    await rig.control("/dev/mine", { blocks: 1, intervalMs: 1_000 });
    return await readSigningStop(sql, "TRX") !== null;
  });
  assertEquals((await rig.payout(paid)).status, "queued");
  assertEquals(await rig.chain.balanceOf(receiver, "USDT"), amount("500"));
  const [held] =
    await sql`SELECT reserved::int FROM book.balance WHERE merchant_id = ${merchantId}`;
  assertEquals(held, { reserved: 500 });
});

test("a start that lost nothing signs before any block of what is under way is solid", async () => {
  await using rig = await openTreasuryRig({ remembers: false, solidLag: SOLID_LAG });
  const { key } = await rig.merchant("2000");
  const receiver = addressOf(0xbeef);
  const first = await rig.withdraw(key, "500", receiver);
  await until(async () => (await rig.payout(first)).status === "signed");
  await includeInHead(rig);
  await rig.halt();
  await rig.restart();
  const second = await rig.withdraw(key, "200", receiver);
  await until(async () => (await rig.payout(second)).status === "signed");
  const [solid] = await rig.sql`
    SELECT c.height < a.seen_height AS "isBelow" FROM hub.cursor c JOIN book.attempt a USING (network)
    WHERE c.view = 'solid' AND a.seen_height IS NOT NULL`;
  assertEquals(solid, { isBelow: true });
  assertEquals(chainReasons(rig.engine, "TRX", Date.now()), []);
});

/** The scan of a start, on a chain that counts nonces. */
function startOn(lane: TestLane, sql: Parameters<typeof readCursor>[0], chain = lane.chain.port) {
  const memory = new ScanMemory(chain, () => performance.now());
  const watched = { sql, chain, memory, wakeMerchants: () => {} };
  const gate = new ScanGate(LANE_NETWORK);
  return {
    memory,
    gate,
    async look() {
      memory.recordChainSolid(await lane.chain.port.solid());
      await lane.scan();
      const solid = await readCursor(sql, LANE_NETWORK, "solid");
      memory.recordRead(solid?.height ?? 0, solid?.time ?? 0);
      await compareHead(watched, new AbortController().signal);
      const { signsFrom, comparison } = memory.status;
      gate.look(comparison === "over" ? signsFrom : null, memory.readSolid);
    },
  };
}

test("where a nonce that the books have never promised is used by a block that is not final, nothing is signed before that is read", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  await lane.turn();
  await lane.addPayout("o1");
  const copy = await copyOf(sql, LANE_NETWORK);
  assertEquals(await lane.turn(), 1);
  lane.chain.mine();
  assertEquals([lane.chain.seen.length, lane.chain.solid.length], [1, 0]);
  await setBack(sql, copy);
  const start = startOn(lane, sql);
  await start.look();
  assertEquals(start.gate.isHeld, true);
  for (let blocks = 0; start.gate.isHeld; blocks++) {
    assert(blocks < 50, "half a minute of blocks above those that show it are enough");
    lane.chain.mine();
    await start.look();
    await lane.prove();
  }
  assertMatch(await readSigningStop(sql, LANE_NETWORK) ?? "", /do not know/);
  const own = countingSigner(sql, LANE_NETWORK, {}, "restored");
  assertEquals(await lane.turnOfOther(own), 0);
  assertEquals(await lane.states(), ["o1 queued null"]);
});

test("a service that runs on compares newest blocks anew where its database is set back to a copy whose cursor stands where its own does", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  await lane.turn();
  await lane.addPayout("o1");
  const before = await copyOf(sql, LANE_NETWORK);
  const start = startOn(lane, sql);
  await start.look();
  assertEquals(await lane.turn(), 1);
  lane.chain.mine();
  await start.look();
  assertEquals([start.gate.isHeld, lane.chain.solid.length], [false, 0]);
  const { cursors } = await copyOf(sql, LANE_NETWORK);
  await setBack(sql, { ...before, cursors });
  await start.look();
  assertEquals(start.gate.isHeld, true);
});

test("nonces that are promised, signed or in newest blocks hold no start up", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  await lane.turn();
  for (const id of ["o1", "o2", "o3"]) await lane.addPayout(id);
  await lane.turn();
  lane.chain.mine();
  await lane.addPayout("o4");
  await lane.promise("o4");
  const start = startOn(lane, sql);
  await start.look();
  assertEquals([start.gate.isHeld, start.memory.status.comparison], [false, "over"]);
});

for (const behindMs of [0, 3_600_000]) {
  test(`a node that lies of the hot wallet's nonce and names a block far above the chain's, made ${behindMs} ms ago, holds a start until a solid block is read that was made half a minute from now`, async () => {
    await using database = await testDatabase();
    const { sql } = database;
    const lane = await openLane(sql);
    await lane.turn();
    const { port } = lane.chain;
    const lying: Chain = {
      ...port,
      furthest: async () => {
        const { time, ...head } = await port.head();
        return { ...head, height: 1_000, time: time - behindMs, behindMs, nonce: 99 };
      },
    };
    const start = startOn(lane, sql, lying);
    await start.look();
    const said = (await port.head()).time;
    for (let blocks = 0; start.gate.isHeld; blocks++) {
      assert(blocks < 100, "some seventy blocks are as far above the chain's as it can be held");
      assert(start.memory.readSolidTime < said + 30_000);
      lane.chain.mine();
      await start.look();
    }
    assert(start.memory.readSolidTime >= said + 30_000);
  });
}
