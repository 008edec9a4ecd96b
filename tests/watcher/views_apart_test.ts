import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertGreater,
  assertRejects,
} from "@std/assert";
import { Actors } from "../../actors/runtime/actor.ts";
import { ScanMemory, type WatcherStatus } from "../../actors/watcher/scan_memory.ts";
import { viewHead } from "../../actors/watcher/head_view.ts";
import { scanSolid } from "../../actors/watcher/solid_scan.ts";
import { watcherActors } from "../../actors/watcher/watcher_actor.ts";
import { chainReasons } from "../../app/health/chains.ts";
import { ChainUnavailable } from "../../chains/chain.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { readCursor, storeHead } from "../../ledger/watcher/cursor.ts";
import { until } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { nodeState } from "../support/node_state.ts";
import { PAPER_BLOCK, paperChain } from "../support/paper_chain.ts";
import { sparseBlock, sparseChain } from "../support/paper_family.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const never = () => new Promise<never>(() => {});

/** The two actors of a network, which look as often as a test tells them to. */
function views(
  sql: Sql,
  chain: ReturnType<typeof paperChain>,
  callsToday = () => 0,
  monotonic?: () => number,
) {
  const status: { now: WatcherStatus | null } = { now: null };
  const kinds = watcherActors({
    sql,
    chains: new Map([[chain.network, chain]]),
    nodes: () => [nodeState({ callsToday: callsToday(), dailyCalls: 100_000 })],
    now: () => 20_000 * 86_400_000,
    ...(monotonic === undefined ? {} : { monotonic }),
    wakeMerchants: () => {},
    onSolid: () => {},
    onStatus: (_network, told) => status.now = told,
    again: () => {},
  });
  return { ...kinds, status };
}

test("a node that never answers for one view keeps the other from nothing", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  for (const silent of ["head", "solid"] as const) {
    let looks = 0;
    const answer = () => {
      looks += 1;
      return Promise.resolve(PAPER_BLOCK);
    };
    const chain = paperChain("TRX", {
      head: silent === "head" ? never : answer,
      solid: silent === "solid" ? never : answer,
    });
    const { solid, head } = views(sql, chain);
    const scan = new Actors(solid);
    const headView = new Actors(head);
    headView.tell("TRX", { type: "tick" });
    scan.tell("TRX", { type: "tick" });
    await until(() => {
      scan.tell("TRX", { type: "tick" });
      headView.tell("TRX", { type: "tick" });
      return looks >= 5;
    });
    const hangs = silent === "head" ? headView : scan;
    assertEquals(hangs.busyFor(0).map(({ id }) => id), ["TRX"], "it is named as busy");
    assertEquals([solid.name, head.name], ["watcher", "head_view"]);
    await Promise.all([scan.stop(0), headView.stop(0)]);
  }
});

test("a turn of the scan that is ended keeps what it has read, and has failed only where that is nothing", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const blocks = [10, 11, 12, 13].map((height) => sparseBlock(height, height - 1));
  const [first, , , newest] = blocks;
  assert(first !== undefined && newest !== undefined);
  let isBegun = false;
  const ended = new AbortController();
  const chain = sparseChain("TRX", blocks, {
    solid: () => Promise.resolve(isBegun ? newest : first),
    async *blocks(from) {
      if (!isBegun) return;
      if (!ended.signal.aborted) {
        yield await Promise.resolve({ kind: "block", block: blocks[from - 10] ?? newest });
        ended.abort();
      }
      throw new ChainUnavailable("timeout", "Cannot read as the look has ended");
    },
  });
  const scan = {
    sql,
    chain,
    memory: new ScanMemory(chain, () => 1_000),
    wakeMerchants: () => {},
    onReached: () => {},
    onSolid: () => {},
  };
  await scanSolid(scan, ended.signal);
  isBegun = true;
  const { cursor, hasMore } = await scanSolid(scan, ended.signal);
  assertEquals([cursor.height, hasMore], [11, true]);
  await assertRejects(() => scanSolid(scan, ended.signal), ChainUnavailable);
});

test("newest blocks that were read before a node failed, or before a look was over, are seen and not read again", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const blocks = [10, 11, 12, 13].map((height) => sparseBlock(height, height - 1));
  const [first] = blocks;
  assert(first !== undefined);
  const asked: number[] = [];
  const ended = new AbortController();
  const chain = sparseChain("TRX", blocks, {
    solid: () => Promise.resolve(first),
    async *blocks(from, to) {
      if (from > to) return;
      asked.push(from);
      yield await Promise.resolve({ kind: "block", block: blocks[from - 10] ?? first });
      throw new ChainUnavailable("timeout", "Cannot read on");
    },
  });
  const watched = {
    sql,
    chain,
    memory: new ScanMemory(chain, () => 1_000),
    wakeMerchants: () => {},
    onReached: () => {},
    onSolid: () => {},
  };
  await scanSolid(watched);
  await assertRejects(() => viewHead(watched, ended.signal), ChainUnavailable);
  assertEquals((await readCursor(sql, "TRX", "head"))?.height, 11);
  ended.abort();
  await viewHead(watched, ended.signal);
  await viewHead(watched, ended.signal);
  assertEquals([asked, (await readCursor(sql, "TRX", "head"))?.height], [[11, 12, 13], 13]);
});

test("newest blocks that are not reached are a reason of their own, which solid blocks do not hide", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const { solid, head, status } = views(sql, paperChain("TRX"));
  await (await solid.activate("TRX")).receive({ type: "tick" });
  await (await head.activate("TRX")).receive({ type: "tick" });
  const told = status.now;
  assert(told !== null && told.headReachedAt !== null);
  assertGreater(told.headReachedAt, 0);
  const reasons = (changed: Partial<WatcherStatus>) => {
    const watched = new Map([["TRX", { ...told, ...changed }]] as const);
    const engine = { nodes: () => [], watched };
    return chainReasons(engine, "TRX", told.readSolidTime, told.reachedAt);
  };
  const before = told.reachedAt - 120_000;
  assertEquals(reasons({}), []);
  assertEquals(reasons({ headReachedAt: before }), ["TRX's newest blocks cannot be reached"]);
  assertEquals(reasons({ reachedAt: before }), ["TRX cannot be reached"]);
  assertEquals(reasons({ headReachedAt: null }), [], "no head view");
  const stuck = { headAgeMs: 7 * 60_000 };
  assertEquals(reasons(stuck), ["TRX's newest blocks have not grown for 7 minutes"]);
  assertEquals(reasons({ ...stuck, headReachedAt: null }), [], "no head view");
  assertEquals(
    reasons({ headReachedAt: before, restMs: 20_000 }).filter((one) => one.includes("newest")),
    [],
    "left alone on purpose",
  );
});

test("looks that overlap count each call once, and rest together", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  let calls = 50_000;
  const open: (() => void)[] = [];
  const slow = async () => {
    calls += 1;
    await new Promise<void>((resolve) => open.push(resolve));
    return PAPER_BLOCK;
  };
  let isSlow = false;
  const place = () => isSlow ? slow() : Promise.resolve(PAPER_BLOCK);
  const chain = paperChain("TRX", { head: place, solid: place });
  const clock = { now: 1_000 };
  const { solid, head, status } = views(sql, chain, () => calls, () => clock.now);
  const scan = await solid.activate("TRX");
  const headView = await head.activate("TRX");
  // the start's comparison with the books asks besides
  await scan.receive({ type: "tick" });
  await until(() => status.now?.comparison === "over");
  isSlow = true;
  const alone = scan.receive({ type: "tick" });
  await until(() => open.length === 1);
  open[0]?.();
  await alone;
  const restOfOne = status.now?.restMs ?? 0;
  assertGreater(restOfOne, 0);
  await Promise.all([scan, headView].map((actor) => actor.receive({ type: "tick" })));
  assertEquals(open.length, 1, "both rest");
  clock.now += restOfOne;
  const together = [scan, headView].map((actor) => actor.receive({ type: "tick" }));
  await until(() => open.length === 3);
  for (const resolve of open) resolve();
  await Promise.all(together);
  assertAlmostEquals((status.now?.restMs ?? 0) / restOfOne, 2, 0.01);
});

test("the head view goes on where its stored place is, whatever the scan of solid blocks does", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const blocks = [10, 11, 12, 13].map((height) => sparseBlock(height, height - 1));
  const [first] = blocks;
  assert(first !== undefined);
  const asked: string[] = [];
  const chain = sparseChain("TRX", blocks, { solid: () => Promise.resolve(first) });
  const counted = {
    ...chain,
    blocks: (...given: Parameters<typeof chain.blocks>) => {
      asked.push(`${given[2]} ${given[0]}..${given[1]}`);
      return chain.blocks(...given);
    },
  };
  const { solid, head } = views(sql, counted);
  await (await solid.activate("TRX")).receive({ type: "tick" });
  // the start's comparison with the books
  await until(() => asked.includes("head 11..13"));
  asked.length = 0;
  await storeHead(sql, "TRX", blocks[1] ?? first);
  const silent = views(sql, { ...counted, solid: never });
  await (await silent.head.activate("TRX")).receive({ type: "tick" });
  assertEquals(asked.filter((one) => one.startsWith("head")), ["head 12..13"]);
  assertEquals((await readCursor(sql, "TRX", "head"))?.height, 13);
  assertEquals(head.name, "head_view");
});

test("how far a network is read late is known while its next block is still being read", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const blocks = [10, 11, 12].map((height) => sparseBlock(height, height - 1));
  const [first, newest] = [blocks[0], blocks.at(-1)];
  assert(first !== undefined && newest !== undefined);
  let isBegun = false;
  const asked = Promise.withResolvers<void>();
  const read = Promise.withResolvers<never>();
  const chain = sparseChain("TRX", blocks, {
    solid: () => Promise.resolve(isBegun ? newest : first),
    async *blocks(from, to, view) {
      if (from > to || view === "head") return;
      asked.resolve();
      yield await read.promise;
    },
  });
  const { solid, status } = views(sql, chain, () => 0, () => 1_000);
  const scan = await solid.activate("TRX");
  await scan.receive({ type: "tick" });
  isBegun = true;
  const look = scan.receive({ type: "tick" });
  await Promise.race([look, asked.promise]);
  const watched = new Map([["TRX", status.now as WatcherStatus]] as const);
  const late = first.time + 57_000 + 61_000;
  assertEquals(chainReasons({ nodes: () => [], watched }, "TRX", late, 1_000), [
    "TRX is 61 s behind, 2 blocks",
  ]);
  read.reject(new ChainUnavailable("timeout", "Cannot read on"));
  await assertRejects(() => look, ChainUnavailable);
});
