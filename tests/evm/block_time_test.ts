import { assertEquals, assertRejects } from "@std/assert";
import { createEvmChain } from "../../chains/evm/evm_chain.ts";
import { blocksFollow } from "../../chains/block_clock.ts";
import { TRON } from "../../chains/tron/family.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { moveCursor, readCursor } from "../../ledger/watcher/cursor.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { blockId, HEIGHT, OURS, USDT as TRON_USDT } from "../tron/support/block_fixture.ts";
import { startScriptedNode } from "../tron/support/scripted_node.ts";
import { composeBlock, HOT, USDT } from "./support/block_fixture.ts";
import { startScriptedRpc } from "./support/scripted_rpc.ts";

const test = testNeeding({ ...DATABASE, net: true });

const NEWEST = 40;
const DAY_MS = 86_400_000;
/** Seconds of block times that have not come: one of no calendar, and one of next month. */
const AHEAD = [2 ** 51, Math.floor((Date.now() + 30 * DAY_MS) / 1_000)];

/** Blocks whose newest one is of now. */
const HEADS = Array.from({ length: NEWEST + 1 }, (_, height) => {
  const { head } = composeBlock(height, []);
  const seconds = Math.floor(Date.now() / 1_000) - 12 * (NEWEST - height);
  return { ...head, timestamp: `0x${seconds.toString(16)}` };
});

/** A node whose newest block is of another time. */
function nodeOf(seconds: number | null) {
  return startScriptedRpc({
    eth_chainId: () => "0x1",
    eth_getBlockByNumber: ([name]) => {
      const height = typeof name === "string" && name.startsWith("0x") ? Number(name) : NEWEST;
      const head = HEADS[height] ?? null;
      if (head === null || height !== NEWEST || seconds === null) return head;
      return { ...head, timestamp: `0x${seconds.toString(16)}` };
    },
  });
}

function chainOf(urls: readonly string[]) {
  return createEvmChain({
    network: "ETH",
    nodeUrls: urls,
    contracts: { USDT },
    deposits: { address: () => HOT },
    hotWallet: HOT,
    callsPerSecond: 0,
    feeCap: amountOf("0.02"),
  });
}

test("a node whose newest block is of the future is not believed, and another one is asked", async () => {
  for (const seconds of AHEAD) {
    await using liar = nodeOf(seconds);
    await using honest = nodeOf(null);
    const chain = chainOf([liar.url, honest.url]);
    const expected = Number(HEADS[NEWEST]?.timestamp) * 1_000;
    assertEquals((await chain.head()).time, expected);
    assertEquals((await chain.solid()).time, expected);
    const [answer] = await Array.fromAsync(chain.blocks(NEWEST, NEWEST, "solid"));
    assertEquals(answer?.kind === "block" && answer.block.time, expected);
    const alone = chainOf([liar.url]);
    await assertRejects(() => alone.head(), Error, "ahead of the clock");
    await assertRejects(
      () => Array.fromAsync(alone.blocks(NEWEST, NEWEST, "solid")),
      Error,
      "ahead of the clock",
    );
  }
});

/** A TRON network over one node, whose newest block is of a time. */
async function tronOver(url: string, isDevelopment: boolean) {
  return await TRON.open({
    network: "TRX",
    nodeUrls: [url],
    contracts: { USDT: TRON_USDT },
    deposits: { address: () => OURS },
    hotWallet: OURS,
    callsPerSecond: 0,
    isDevelopment,
  });
}

test("TRON's blocks of the future are not believed either, but where a development chain has leapt", async () => {
  const time = Date.now() + DAY_MS;
  const raw = { number: HEIGHT, parentHash: blockId(HEIGHT - 1), timestamp: time };
  const block = () => ({ blockID: blockId(HEIGHT), block_header: { raw_data: raw } });
  await using node = startScriptedNode({
    "/wallet/getblock": block,
    "/wallet/getblockbylimitnext": () => ({ block: [block()] }),
    "/wallet/getblockbynum": block,
  });
  const chain = await tronOver(node.url, false);
  await assertRejects(() => chain.head(), Error, "ahead of the clock");
  await assertRejects(() => chain.block(HEIGHT, "head"), Error, "ahead of the clock");
  const development = await tronOver(node.url, true);
  assertEquals((await development.head()).time, time);
  assertEquals((await development.block(HEIGHT, "head")).kind, "block");
});

test("the scan's cursor takes no block whose time has not come, at its begin and later", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const now = Date.now();
  const place = (height: number, time: number) => ({
    height,
    hash: `b${height}`,
    time,
    previousTime: now,
    tick: time,
    previousTick: now,
  });
  const move = (from: Parameters<typeof moveCursor>[3], to: ReturnType<typeof place>) =>
    moveCursor(sql, "ETH", "solid", from, to, from === null ? 0 : 1, 120_000);
  for (const ahead of [DAY_MS, 2 ** 61]) {
    await assertRejects(() => move(null, place(7, now + ahead)), RangeError, "has not come");
  }
  assertEquals(await move(null, place(7, now)), true);
  const cursor = await readCursor(sql, "ETH", "solid");
  for (const ahead of [DAY_MS, 2 ** 61]) {
    await assertRejects(() => move(cursor, place(8, now + ahead)), RangeError, "has not come");
  }
  assertEquals((await readCursor(sql, "ETH", "solid"))?.height, 7);
  assertEquals(await move(cursor, place(8, now + 60_000)), true);
  assertEquals(await move(cursor, place(8, now)), false, "another was faster");
});

test("blocks are compared with the service's clock: a machine's own that is set back stops no network", async () => {
  const ahead = Date.now() + DAY_MS;
  await using node = nodeOf(Math.floor(ahead / 1_000));
  const chain = chainOf([node.url]);
  await assertRejects(() => chain.head(), Error, "ahead of the clock");
  blocksFollow(() => ahead);
  try {
    const later = chainOf([node.url]);
    assertEquals((await later.head()).time, Math.floor(ahead / 1_000) * 1_000);
  } finally {
    blocksFollow(Date.now);
  }
});
