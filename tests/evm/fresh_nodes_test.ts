import { assert, assertEquals, assertRejects } from "@std/assert";
import { type BlockRef, ChainUnavailable } from "../../chains/chain.ts";
import { createEvmChain } from "../../chains/evm/evm_chain.ts";
import { NewestHeads } from "../../chains/evm/read/newest_heads.ts";
import { NewestPlace } from "../../chains/nodes/believed_nodes.ts";
import { ChainNode } from "../../chains/nodes/node.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { testNeeding } from "../support/permissions.ts";
import { addressOf, composeBlock, HOT, USDT } from "./support/block_fixture.ts";
import { chainOn } from "./support/scripted_chain.ts";
import {
  RpcFailure,
  type Script,
  type ScriptedRpc,
  startScriptedRpc,
} from "./support/scripted_rpc.ts";

const test = testNeeding({ net: true });

const GWEI = 1_000_000_000n;
const REVERTED = new RpcFailure(3, "execution reverted: paused");
const MOVEMENT = {
  from: HOT,
  to: addressOf(1),
  asset: "USDT" as const,
  amount: amountOf("5"),
};

function hex(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}

/** A node with a newest block, which asks a price in gwei for gas. */
function nodeAt(
  newest: { readonly height: number; readonly ageSeconds: number },
  price: bigint,
  more: Record<string, Script> = {},
): ScriptedRpc {
  const time = Math.floor(Date.now() / 1_000) - newest.ageSeconds;
  const latest = { ...composeBlock(newest.height, []).head, timestamp: hex(time) };
  return startScriptedRpc({
    eth_chainId: () => "0x1",
    eth_getBlockByNumber: ([name]) => name === "0x0" ? composeBlock(0, []).head : latest,
    eth_feeHistory: () => ({
      baseFeePerGas: [hex(price * GWEI)],
      reward: [[hex(price * GWEI / 10n)]],
    }),
    eth_estimateGas: () => hex(50_000),
    ...more,
  });
}

const STUCK = { height: 1_000, ageSeconds: 3_600 };
const NEWEST = { height: 1_300, ageSeconds: 4 };

test("the price of a node that is stuck is not offered while another node goes on", async () => {
  await using stuck = nodeAt(STUCK, 40n);
  await using good = nodeAt(NEWEST, 2n);
  await using only = nodeAt(NEWEST, 2n);
  const expected = (await chainOn(only).estimateFee([MOVEMENT])).limit;
  for (const nodes of [[stuck, good], [good, stuck]]) {
    assertEquals((await chainOn(...nodes).estimateFee([MOVEMENT])).limit, expected);
  }
});

test("the nonce at the furthest block is the highest that any node names, whichever node is asked first", async () => {
  await using stuck = nodeAt(STUCK, 2n, { eth_getTransactionCount: () => hex(7) });
  await using good = nodeAt(NEWEST, 2n, { eth_getTransactionCount: () => hex(9) });
  for (const nodes of [[stuck, good], [good, stuck]]) {
    const { height, behindMs, nonce } = await chainOn(...nodes).furthest();
    assertEquals([height, behindMs, nonce], [NEWEST.height, 0, 9]);
  }
  const { height, behindMs, nonce } = await chainOn(stuck).furthest();
  assertEquals([height, nonce], [STUCK.height, 7]);
  assert(behindMs >= STUCK.ageSeconds * 1_000);
});

test("the nonce at the furthest block is that block's, although another node behind the same address has an older one", async () => {
  const block = composeBlock(NEWEST.height, []).head;
  await using two = nodeAt(NEWEST, 2n, {
    eth_getTransactionCount: ([, state]) =>
      state === "latest" ? hex(7) : JSON.stringify(state).includes(block.hash) ? hex(9) : hex(0),
  });
  const { height, nonce } = await chainOn(two).furthest();
  assertEquals([height, nonce], [NEWEST.height, 9]);
});

test("a transfer that fails at a node that is stuck only is no failed transfer", async () => {
  await using stuck = nodeAt(STUCK, 2n, { eth_estimateGas: () => REVERTED });
  await using good = nodeAt(NEWEST, 2n);
  assert((await chainOn(stuck, good).estimateFee([MOVEMENT])).limit > 0n);
  await using failing = nodeAt(NEWEST, 2n, { eth_estimateGas: () => REVERTED });
  await using well = nodeAt(STUCK, 2n);
  const failure = await assertRejects(
    () => chainOn(well, failing).estimateFee([MOVEMENT]),
    ChainUnavailable,
  );
  assertEquals(failure.category, "reverted");
});

function headAt(height: number, ageMs = 4_000): BlockRef {
  const time = Date.now() - ageMs;
  return { height, parentHeight: height - 1, hash: "", parentHash: "", time, tick: time };
}

/** Newest blocks of nodes, each at a height; and the clock by which they were told. */
function headsAt(...heights: readonly number[]) {
  const clock = { now: 0 };
  const heads = new NewestHeads(new NewestPlace(12_000), 12_000, () => clock.now);
  for (const [i, height] of heights.entries()) {
    const url = `http://node${i}.local`;
    heads.record(new ChainNode({ url, requestTimeoutMs: 1_000 }), headAt(height));
  }
  return { heads, clock };
}

test("a node is behind where two others are known to be far above it, not where one is", () => {
  const { heads, clock } = headsAt(1_290, 1_300, 1_300);
  assertEquals([1_300, 1_296, 1_290].map((height) => heads.isNear(headAt(height))), [
    true,
    true,
    false,
  ]);
  assertEquals(heads.isNear(headAt(1_300, 60_000)), false, "the clock says so alone");
  clock.now = 61_000;
  assert(heads.isNear(headAt(1_290)), "what is long ago is no measure");
  assert(headsAt(1_290, 1_300).heads.isNear(headAt(1_290)));
  assert(headsAt(1_300, 1_299, 90_000).heads.isNear(headAt(1_300)));
});

test("of nodes that are all stuck none is the furthest by a height that no other has reached", () => {
  const { heads } = headsAt(1_200, 1_190, 90_000);
  assertEquals(heads.isFurther(headAt(90_000), headAt(1_200)), false);
  assertEquals(heads.isFurther(headAt(1_200), headAt(1_190)), true);
  assertEquals(headsAt(1_200, 1_190).heads.isFurther(headAt(1_200), headAt(1_190)), true);
});

test("one node of three that names a far newer block decides neither a price nor a revert", async () => {
  for (const ageSeconds of [4, 3_600]) {
    await using one = nodeAt({ height: 1_300, ageSeconds }, 2n);
    await using other = nodeAt({ height: 1_301, ageSeconds }, 2n);
    const far = { height: 2_000, ageSeconds };
    await using liar = nodeAt(far, 100n, { eth_estimateGas: () => REVERTED });
    const chain = chainOn(one, other, liar);
    const expected = (await chainOn(one).estimateFee([MOVEMENT])).limit;
    for (let i = 0; i < 3; i++) {
      assertEquals((await chain.estimateFee([MOVEMENT])).limit, expected);
    }
  }
});

test("where every node is stuck the one that is furthest tells the prices", async () => {
  await using stuck = nodeAt(STUCK, 40n);
  await using less = nodeAt({ height: 1_200, ageSeconds: 1_200 }, 2n);
  await using only = nodeAt(NEWEST, 2n);
  const expected = (await chainOn(only).estimateFee([MOVEMENT])).limit;
  assertEquals((await chainOn(stuck, less).estimateFee([MOVEMENT])).limit, expected);
});

test("no single node of several decides the price: the middle one counts, of two the lower", async () => {
  await using dear = nodeAt(NEWEST, 100n);
  await using one = nodeAt(NEWEST, 2n);
  await using other = nodeAt(NEWEST, 2n);
  await using cheap = nodeAt(NEWEST, 1n);
  const of = async (...nodes: readonly ScriptedRpc[]) =>
    (await chainOn(...nodes).estimateFee([MOVEMENT])).limit;
  const expected = await of(one);
  assertEquals(await of(dear, one, other), expected);
  assertEquals(await of(dear, one), expected);
  assertEquals(await of(cheap, one, dear), expected);
});

test("a node that is silent does not keep prices of the others back", async () => {
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const held: Deno.Conn[] = [];
  const holding = (async () => {
    for await (const connection of silent) held.push(connection);
  })();
  await using good = nodeAt(NEWEST, 2n);
  const chain = createEvmChain({
    network: "ETH",
    nodeUrls: [good.url, `http://127.0.0.1:${(silent.addr as Deno.NetAddr).port}`],
    contracts: { USDT },
    deposits: { address: () => HOT },
    hotWallet: HOT,
    callsPerSecond: 0,
    feeCap: amountOf("0.02"),
    requestTimeoutMs: 30_000,
    totalTimeoutMs: 60_000,
  });
  const { limit } = await chain.estimateFee([MOVEMENT]);
  assertEquals(limit, (await chainOn(good).estimateFee([MOVEMENT])).limit);
  assertEquals(chain.nodes.states[1]?.state, "ready", "what is given up is no failure of its node");
  silent.close();
  await holding;
  for (const connection of held) connection.close();
});
