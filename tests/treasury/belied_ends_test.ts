import { assertEquals, assertMatch } from "@std/assert";
import { recordBlocks } from "../../actors/watcher/record_blocks.ts";
import type { Block } from "../../chains/chain.ts";
import { readSigningStop } from "../../ledger/failover/holds.ts";
import { findUndecided, listUndecided } from "../../ledger/failover/unknown_spends.ts";
import { addressOf } from "../support/api.ts";
import { amount, until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { startLyingNode } from "./support/lying_node.ts";
import { LANE_NETWORK, openLane } from "./support/test_lane.ts";
import { openTreasuryRig } from "./support/treasury_rig.ts";

const test = testNeeding(DATABASE);

test("a payout that was given back by one node's word, and that a block shows as paid, stops signing until it has a verdict", async () => {
  const failed = new Set<string>();
  await using stack = new AsyncDisposableStack();
  const rig = stack.use(
    await openTreasuryRig({
      through: (url) => stack.use(startLyingNode(url, failed)).url,
    }),
  );
  const { sql, chain } = rig;
  const { key } = await rig.merchant("1000");
  const receiver = addressOf(0xbeef);
  const given = await rig.withdraw(key, "500", receiver);
  await until(async () => (await rig.payout(given)).status === "signed");
  const [{ txid } = { txid: "" }] = await sql<{ txid: string }[]>`SELECT txid FROM book.attempt`;
  failed.add(txid);
  await rig.mineUntil("it is given back", async () => (await rig.payout(given)).status === "void");
  failed.clear();
  const blocks: Block[] = [];
  const { height } = await chain.solid();
  for await (const one of chain.blocks(1, height, "solid")) {
    if (one.kind === "block") blocks.push(one.block);
  }
  await recordBlocks(sql, chain, blocks, "solid");
  assertMatch(await readSigningStop(sql, "TRX") ?? "", /do not know/);
  assertEquals((await listUndecided(sql)).map((one) => [one.txid, one.to]), [[txid, receiver]]);
  const again = await rig.withdraw(key, "900", receiver);
  for (let round = 0; round < 5; round++) await rig.mine(1);
  assertEquals((await rig.payout(again)).status, "queued");
  assertEquals(await chain.balanceOf(receiver, "USDT"), amount("500"), "once");
  assertEquals((await findUndecided(sql, txid)).length, 1, "it waits for its verdict");
});

test("on a chain with nonces, a payout that was given back by one node's word and that a block shows as paid stops signing", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const lane = await openLane(sql);
  await lane.addPayout("o1");
  assertEquals(await lane.turn(), 1);
  const intended = lane.chain.intended.get("o1");
  if (intended === undefined) throw new Error("Cannot lie about a payout that is none");
  lane.chain.intended.set("o1", { ...intended, reverts: true });
  await lane.settle();
  assertEquals(await lane.states(), ["o1 dead null"]);
  lane.chain.intended.set("o1", intended);
  const blocks = Array.from({ length: lane.chain.solidHeight }, (_, i) => lane.chain.block(i + 1));
  await recordBlocks(sql, lane.chain.port, blocks, "solid");
  assertMatch(await readSigningStop(sql, LANE_NETWORK) ?? "", /do not know/);
  await lane.addPayout("o2");
  await lane.finish();
  assertEquals(await lane.states(), ["o1 dead null", "o2 queued null"]);
});
