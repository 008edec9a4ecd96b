import { assertEquals } from "@std/assert";
import { DoubtfulMerchants } from "../../actors/journal/merchant_standing.ts";
import { openBatch } from "../../actors/journal/open_batch.ts";
import type { Taken } from "../../actors/journal/queue.ts";

/** An opening of batches in which the shared reading of all inboxes fails, on a clock of its own. */
function openingOf(read: (merchantIds: readonly string[]) => { ms: number; fails: boolean }) {
  let now = 0;
  const told = { read: [] as number[], paused: [] as string[], woken: [] as string[] };
  const opening = {
    store: {
      readInbox: (merchantIds: readonly string[]) => {
        told.read.push(merchantIds.length);
        const { ms, fails } = read(merchantIds);
        now += ms;
        if (fails) return Promise.reject(new Error("canceling statement due to statement timeout"));
        return Promise.resolve([]);
      },
      isConnectionError: () => false,
    },
    doubts: new DoubtfulMerchants(() => now),
    paused: {
      pause: (merchantId: string) => {
        told.paused.push(merchantId);
        return 0;
      },
    },
    limit: 500,
    now: () => 0,
    monotonic: () => now,
    usdRate: () => "1",
    retry: <T>(ask: () => Promise<T>) => ask(),
    wake: (merchantId: string) => told.woken.push(merchantId),
    quarantineRows: () => Promise.resolve(),
  };
  return { opening, told };
}

function woken(count: number): Taken {
  const taken: Taken = new Map();
  for (let n = 0; n < count; n++) taken.set(`mer_${n}`, [{ kind: "wake" }]);
  return taken;
}

Deno.test("inboxes that are slow to read for all keep a batch for three statements, however many are woken", async () => {
  const { opening, told } = openingOf(() => ({ ms: 1_050, fails: true }));
  assertEquals((await openBatch(opening, woken(100))).size, 0);
  assertEquals([told.read, told.paused], [[100, 1, 1], ["mer_0"]]);
});

Deno.test("inboxes that are read one by one keep a batch for three seconds, and the rest is read by a later one", async () => {
  const { opening, told } = openingOf((ids) => ({ ms: 50, fails: ids.length > 1 }));
  await openBatch(opening, woken(500));
  assertEquals([told.read.length, told.woken.length], [1 + 61, 500 - 61]);
  assertEquals(told.woken.includes("mer_0"), false);
});

Deno.test("an inbox that can be read tells that the database is not slow for all", async () => {
  let n = 0;
  const slow = ["mer_1", "mer_3"];
  const { opening, told } = openingOf(([id = "", ...more]) => {
    const fails = more.length > 0 || slow.includes(id);
    return { ms: fails && n++ < 9 ? 1_050 : 1, fails };
  });
  await openBatch(opening, woken(5));
  assertEquals([told.read, told.paused], [[5, 1, 1, 1, 1, 1], slow]);
});

Deno.test("doubt ends with what passes, and blames who is slow alone while others pass", () => {
  let now = 0;
  const doubts = new DoubtfulMerchants(() => now);
  assertEquals([doubts.failed(999), doubts.failed(1_000)], [false, true]);
  doubts.add(["slow", "calm"]);
  assertEquals(["slow", "calm", "other"].map((id) => doubts.has(id)), [true, true, false]);
  assertEquals(doubts.isToBlame("slow"), false);
  doubts.failed(3_000);
  assertEquals(doubts.isStalled, false);
  doubts.failed(3_000);
  assertEquals(doubts.isStalled, true);
  doubts.pass("calm");
  assertEquals([doubts.isStalled, doubts.has("calm"), doubts.isToBlame("slow")], [
    false,
    false,
    true,
  ]);
  // found slow again, it is as doubtful as before
  doubts.add(["slow"]);
  assertEquals(doubts.isToBlame("slow"), true);
  now = 600_001;
  doubts.tidy();
  assertEquals(doubts.has("slow"), false);
});
