import { assert, assertEquals, assertGreaterOrEqual, assertLess, assertRejects } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { CallPace } from "../../chains/nodes/call_pace.ts";
import { askForRequest, isAskedByRequest } from "../../chains/call_lane.ts";
import { ChainNode } from "../../chains/nodes/node.ts";
import { NotAsked } from "../../chains/nodes/node_failures.ts";

/** Lanes of calls: those that read blocks wait apart. */
const BLOCKS = true;
const OTHERS = false;

Deno.test("never more calls than are allowed are sent within any window, and all are sent", async () => {
  using time = new FakeTime();
  const pace = new CallPace(5, { windowMs: 60, now: () => time.now });
  const sent: number[] = [];
  const all = Promise.all(Array.from({ length: 28 }, async () => {
    await pace.turn(BLOCKS);
    sent.push(time.now);
  }));
  await time.tickAsync(5 * 60);
  await all;
  assertEquals([sent.length, pace.waiting], [28, 0]);
  for (const [i, at] of sent.entries()) {
    const before = sent[i - 5];
    if (before !== undefined) assertGreaterOrEqual(at - before, 60);
  }
});

Deno.test("calls of one request count one by one, and more than are allowed at once go by themselves", async () => {
  using time = new FakeTime();
  const pace = new CallPace(5, { windowMs: 60, now: () => time.now });
  const sent: { readonly at: number; readonly calls: number }[] = [];
  const start = time.now;
  const all = Promise.all([3, 3, 2, 8, 1].map(async (calls) => {
    await pace.turn(BLOCKS, undefined, calls);
    sent.push({ at: time.now - start, calls });
  }));
  await time.tickAsync(10 * 60);
  await all;
  assertEquals(sent, [
    { at: 0, calls: 3 },
    { at: 60, calls: 3 },
    { at: 60, calls: 2 },
    { at: 120, calls: 8 },
    { at: 180, calls: 1 },
  ]);
});

Deno.test("crowds of one lane leave every other turn to the other lane", async () => {
  const pace = new CallPace(2, { windowMs: 20 });
  const order: string[] = [];
  const ask = async (lane: string, readsBlocks: boolean) => {
    await pace.turn(readsBlocks);
    order.push(lane);
  };
  const crowd = Array.from({ length: 40 }, () => ask("blocks", BLOCKS));
  const few = Array.from({ length: 4 }, () => ask("others", OTHERS));
  await Promise.all(few);
  assertLess(order.length, 14, "four payouts wait for no more than their share");
  await Promise.all(crowd);
  const late = Array.from({ length: 40 }, () => ask("others", OTHERS));
  await Promise.all(Array.from({ length: 4 }, () => ask("blocks", BLOCKS)));
  assertLess(order.length, 44 + 14, "nor does the scan");
  await Promise.all(late);
});

Deno.test("a wait ends with its caller's time, and takes no turn", async () => {
  const pace = new CallPace(1, { windowMs: 60_000 });
  await pace.turn(BLOCKS);
  const error = await assertRejects(() => pace.turn(BLOCKS, AbortSignal.timeout(20)), NotAsked);
  assertEquals([error.category, pace.waiting], ["rate-limit", 0]);
});

Deno.test("a node that refused is asked less from then on, below what it named, and slowly more again", () => {
  let now = 0;
  const pace = new CallPace(12, { now: () => now });
  pace.slowDown(null);
  assertEquals(pace.perSecond, 9);
  pace.slowDown(5);
  assertEquals(pace.perSecond, 4);
  for (let i = 0; i < 20; i++) pace.slowDown(1);
  assertEquals(pace.perSecond, 1);
  now += 60_000;
  assertEquals(pace.perSecond, 2);
  for (let i = 0; i < 50; i++) {
    now += 60_000;
    assert(pace.perSecond <= 12);
  }
  assertEquals(pace.perSecond, 12);
});

Deno.test("nodes on the internet have a bound of their own accord, those of our own networks none", () => {
  const perSecond = (url: string, callsPerSecond?: number) =>
    new ChainNode({
      url,
      requestTimeoutMs: 1,
      ...(callsPerSecond === undefined ? {} : { callsPerSecond }),
    }).callsPerSecond;
  for (
    const url of ["https://api.trongrid.io", "https://1.2.3.4", "http://node.example.com:8090"]
  ) {
    assertEquals(perSecond(url), 12, url);
    assertEquals(perSecond(url, 0), null, url);
  }
  for (
    const url of [
      "http://127.0.0.1:9090",
      "http://localhost",
      "http://10.1.2.3",
      "http://[::1]:80",
      "http://java-tron:8090",
      "http://node.internal",
    ]
  ) {
    assertEquals(perSecond(url), null, url);
    assertEquals(perSecond(url, 40), 40, url);
  }
});

Deno.test("what requests ask waits for scan and payouts, and takes a quarter of the calls at most", async () => {
  using time = new FakeTime();
  const pace = new CallPace(8, { windowMs: 200, now: () => time.now });
  const order: string[] = [];
  const crowd = Array.from(
    { length: 40 },
    () => askForRequest(() => pace.turn(BLOCKS)).then(() => order.push("request"), () => {}),
  );
  await time.tickAsync(20);
  assertEquals(order, ["request", "request"], "of eight calls in a window");
  const own = Array.from(
    { length: 12 },
    (_, n) => pace.turn(n % 2 === 0 ? BLOCKS : OTHERS).then(() => order.push("own")),
  );
  await time.runMicrotasks();
  await Promise.all(own.slice(0, 6));
  assertEquals(order.filter((one) => one === "request").length, 2, "six calls wait for no request");
  await time.tickAsync(200);
  await Promise.all(own);
  assertLess(order.filter((one) => one === "request").length, 7);
  await time.tickAsync(40 * 200);
  await Promise.all(crowd);
  assertEquals([order.length, pace.waiting], [52, 0], "and requests are served in the end");
});

Deno.test("a call belongs to a request only where it was asked by one", async () => {
  const seen: boolean[] = [];
  await askForRequest(async () => {
    await Promise.resolve();
    seen.push(isAskedByRequest());
  });
  seen.push(isAskedByRequest());
  assertEquals(seen, [true, false]);
});
