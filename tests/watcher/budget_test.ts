import { assert, assertEquals, assertGreater, assertLess } from "@std/assert";
import { callsLeft, restAfter } from "../../actors/watcher/call_rests.ts";
import type { NodeState } from "../../chains/node_state.ts";
import { CallMeter } from "../../chains/nodes/call_meter.ts";
import { addNodeCalls } from "../../ledger/watcher/chain_nodes.ts";
import { chainReasons } from "../../app/health/chains.ts";
import { storeNodes } from "../../app/open/store_nodes.ts";
import { until } from "../support/books.ts";
import { nodeState } from "../support/node_state.ts";
import { PAPER_BLOCK, paperChain } from "../support/paper_chain.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { block, blockId, HEIGHT, USDT } from "../tron/support/block_fixture.ts";
import { type Script, startScriptedNode } from "../tron/support/scripted_node.ts";
import { adapterOver, watch } from "./support/watch.ts";

const test = testNeeding(DATABASE);
const DAY_MS = 86_400_000;
const MIDNIGHT = 20_000 * DAY_MS;

function node(callsToday: number, dailyCalls: number | null): NodeState {
  return nodeState({ callsToday, dailyCalls });
}

Deno.test("calls without a bound never slow the scan, also where one node of several has none", () => {
  assertEquals(callsLeft([node(5, 10), node(5_000_000, null)]), null);
  assertEquals(restAfter(null, 100, false, MIDNIGHT), 0);
});

Deno.test("nodes stand in for each other: what they allow is added up", () => {
  assertEquals(callsLeft([node(900, 1_000), node(0, 500)]), { left: 600, limit: 1_500 });
  assertEquals(callsLeft([node(2_000, 1_000)]), { left: 0, limit: 1_000 });
});

Deno.test("a day's calls last the day, with a tenth left for payouts", () => {
  let now = MIDNIGHT;
  let left = 100_000;
  const limit = 100_000;
  // a look costs four calls and a receipt and a block in two views for each 3 s that have passed
  let last = now;
  while (now < MIDNIGHT + DAY_MS) {
    const used = 4 + 2 * Math.floor((now - last) / 3_000);
    last = now;
    left -= used;
    assertGreater(left, limit * 0.05 * (1 - (now - MIDNIGHT) / DAY_MS));
    now += Math.max(1_500, restAfter({ left, limit }, used, false, now));
  }
  assertLess(left, 5_000, "and what was kept is not left over");
});

Deno.test("catching up is not slowed before most calls are spent, and never stopped", () => {
  const noon = MIDNIGHT + DAY_MS / 2;
  assertEquals(restAfter({ left: 40_000, limit: 100_000 }, 600, true, noon), 0);
  const slow = restAfter({ left: 20_000, limit: 100_000 }, 600, true, noon);
  assertGreater(slow, 1_000);
  assertEquals(restAfter({ left: 0, limit: 100_000 }, 600, true, noon), 60_000);
  assertEquals(restAfter({ left: 0, limit: 100_000 }, 4, false, noon), 60_000);
});

Deno.test("calls are counted per day (UTC), those of other services too, and a count that was not kept is not lost", () => {
  let now = MIDNIGHT + 5;
  const meter = new CallMeter(10, () => now);
  for (let i = 0; i < 4; i++) meter.count();
  const { day, calls } = meter.take();
  assertEquals([calls, meter.today], [4, 4]);
  meter.giveBack(day, calls);
  assertEquals([meter.take().calls, meter.today], [4, 4]);
  meter.learn(day, 9);
  assertEquals([meter.today, meter.isQuotaUsedUp], [9, false]);
  meter.count();
  assertEquals(meter.isQuotaUsedUp, true);
  now += DAY_MS;
  assertEquals([meter.today, meter.isQuotaUsedUp], [0, false]);
  meter.learn(day, 1_000);
  assertEquals(meter.today, 0, "yesterday's count");
});

test("what nodes were asked and which chain they are of outlives the process and is shared", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const meter = new CallMeter(1_000);
  for (let i = 0; i < 7; i++) meter.count();
  const expected: string[] = [];
  const nodes = {
    states: [],
    meters: new Map([["one.example", meter]]),
    genesis: "ab".repeat(32),
    expect: (genesis: string) => expected.push(genesis),
  };
  const day = new Date().toISOString().slice(0, 10);
  await addNodeCalls(sql, "TRX", "one.example", day, 100);
  const kept = await storeNodes(sql, new Map([["TRX", nodes]]), false);
  assertEquals(meter.today, 107);
  meter.count();
  await kept.close();
  assertEquals(await addNodeCalls(sql, "TRX", "one.example", day, 0), 108);
  const other = { ...nodes, genesis: "cd".repeat(32), meters: new Map() };
  await (await storeNodes(sql, new Map([["TRX", other]]), false)).close();
  assertEquals(new Set(expected), new Set(["ab".repeat(32)]), "the first one counts");
});

test("a node whose calls are used up is asked last, and still asked when no other answers", async () => {
  const newest = { number: HEIGHT, parentHash: blockId(HEIGHT - 1), timestamp: Date.now() };
  const answer: Script = () => ({ ...block([]), block_header: { raw_data: newest } });
  await using spent = startScriptedNode({ "/wallet/getblock": answer });
  await using other = startScriptedNode({ "/wallet/getblock": answer });
  const chain = adapterOver([spent.url, other.url], USDT, { dailyCalls: 1_000 });
  const [first] = [...chain.nodes.meters.values()];
  first?.learn(new Date().toISOString().slice(0, 10), 1_000);
  await chain.head();
  assertEquals([spent.requests.length, other.requests.length], [0, 1]);
  assertEquals(chain.nodes.states.map(({ state }) => state), ["quota-used-up", "ready"]);
  other.scripts["/wallet/getblock"] = () => new Response(null, { status: 403 });
  await chain.head();
  assertEquals([spent.requests.length, other.requests.length], [1, 2]);
  const [, cooling] = chain.nodes.states;
  assertEquals(cooling?.state, "cooling-down");
  assert(cooling?.failure?.includes("HTTP 403"));
});

test("with calls used up the scan goes on slowly, tells so, and leaves out what only informs", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  let calls = 99_000;
  let cost = 0;
  let heads = 0;
  const solid = PAPER_BLOCK;
  const chain = paperChain("TRX", {
    solid: () => {
      calls += cost;
      return Promise.resolve(solid);
    },
    head: () => {
      heads += 1;
      return Promise.resolve(solid);
    },
  });
  const nodes = {
    get states() {
      return [node(calls, 100_000)];
    },
    meters: new Map(),
    genesis: null,
    expect: () => {},
  };
  const watcher = watch(sql, () => ({ ...chain, nodes }));
  watcher.clock = MIDNIGHT + 6 * 3_600_000;
  await watcher.look();
  // the start's comparison with the books, and the view
  await until(() => heads === 2);
  assertEquals(watcher.status().restMs, 0);
  cost = 50;
  await watcher.look();
  assertEquals([heads, watcher.status().restMs], [2, 60_000]);
  await watcher.look();
  assertEquals(calls, 99_050, "it rests");
  watcher.pass(60_000);
  await watcher.look();
  assertEquals([calls, heads], [99_100, 2]);
  const engine = {
    nodes: () => nodes.states,
    watched: new Map([["TRX", watcher.status()]] as const),
  };
  assert(
    chainReasons(engine, "TRX", watcher.clock, watcher.monotonic).join().includes("is read slowly"),
  );
  await watcher.journal.stop(1_000);
});

test("a node that says less is solid than before changes nothing", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  let height = 9;
  const asked: number[] = [];
  const place = () => ({
    height,
    parentHeight: height - 1,
    hash: `h${height}`,
    parentHash: "",
    time: 1_700_000_000_000,
    tick: 1_700_000_000_000,
  });
  const chain = paperChain("TRX", {
    solid: () => Promise.resolve(place()),
    head: () => Promise.resolve(place()),
    async *blocks(from, to) {
      for (let at = from; at <= to; at++) {
        asked.push(at);
        yield {
          kind: "block",
          block: {
            height: at,
            parentHeight: at - 1,
            hash: `h${at}`,
            parentHash: `h${at - 1}`,
            time: 1_700_000_000_000,
            tick: 1_700_000_000_000,
            transactions: [],
            transfers: [],
          },
        };
      }
    },
  });
  const watcher = watch(sql, () => chain);
  await watcher.look();
  height = 12;
  await watcher.look();
  height = 4;
  await watcher.look();
  const { readSolid, chainSolid, stopped } = watcher.status();
  assertEquals([readSolid, chainSolid, stopped], [12, 12, null]);
  assertEquals(asked, [10, 11, 12]);
  await watcher.journal.stop(1_000);
});
