import { assertEquals, assertRejects } from "@std/assert";
import { batcher } from "../../ledger/database/batcher.ts";

/** A load that ends when the test ends it. */
function heldLoad() {
  const calls: { keys: readonly string[]; end: (fault?: Error) => void }[] = [];
  const load = (keys: readonly string[]) =>
    new Promise<ReadonlyMap<string, string>>((resolve, reject) => {
      calls.push({
        keys,
        end: (fault) =>
          fault === undefined ? resolve(new Map(keys.map((k) => [k, `${k}!`]))) : reject(fault),
      });
    });
  return { calls, load };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

Deno.test("keys asked for while a read is under way are read by the next one, each once", async () => {
  const { calls, load } = heldLoad();
  const read = batcher(load, { concurrency: 1 });
  const first = [read("a"), read("a"), read("b")];
  await turn();
  assertEquals(calls.map(({ keys }) => keys), [["a", "b"]]);
  const late = [read("a"), read("c")];
  await turn();
  assertEquals(calls.length, 1);
  calls[0]?.end();
  assertEquals(await Promise.all(first), ["a!", "a!", "b!"]);
  await turn();
  assertEquals(calls[1]?.keys, ["a", "c"]);
  calls[1]?.end();
  assertEquals(await Promise.all(late), ["a!", "c!"]);
});

Deno.test("a read never answers with what was read before it was asked for", async () => {
  let value = 1;
  const { promise, resolve } = Promise.withResolvers<void>();
  const read = batcher(async (keys) => {
    const seen = value;
    await promise;
    return new Map(keys.map((key) => [key, seen]));
  }, { concurrency: 1 });
  const before = read("x");
  await turn();
  value = 2;
  const after = read("x");
  resolve();
  assertEquals([await before, await after], [1, 2]);
});

Deno.test("a read that fails fails for those that asked, and for nobody after them", async () => {
  const { calls, load } = heldLoad();
  const read = batcher(load, { concurrency: 1, largest: 1 });
  const bad = [read("a"), read("b")];
  await turn();
  calls[0]?.end(new Error("away"));
  await assertRejects(() => bad[0] ?? Promise.resolve(), Error, "away");
  await turn();
  calls[1]?.end();
  assertEquals(await bad[1], "b!");
});

/** A clock that stands still until it is moved. */
function heldClock() {
  let now = 0;
  const timers: { readonly at: number; readonly what: () => void }[] = [];
  return {
    now: () => now,
    after: (ms: number, what: () => void) => void timers.push({ at: now + ms, what }),
    pass: (ms: number) => {
      now += ms;
      for (const { at, what } of timers.splice(0)) at <= now ? what() : timers.push({ at, what });
    },
  };
}

Deno.test("of spaced reads one that comes alone starts at once, those of a crowd wait for each other", async () => {
  const { calls, load } = heldLoad();
  const clock = heldClock();
  const read = batcher(load, { spacingMs: 200, clock });
  const keysOf = () => calls.map(({ keys }) => keys);
  const alone = read("a");
  await turn();
  assertEquals(keysOf(), [["a"]]);
  const crowd = [read("b")];
  await turn();
  // neither the end of a read nor its time lets a crowd go before the spacing is over
  clock.pass(100);
  calls[0]?.end();
  assertEquals(await alone, "a!");
  crowd.push(read("c"), read("a"));
  await turn();
  clock.pass(99);
  assertEquals(keysOf(), [["a"]]);
  clock.pass(1);
  assertEquals(keysOf(), [["a"], ["b", "c", "a"]]);
  calls[1]?.end();
  assertEquals(await Promise.all(crowd), ["b!", "c!", "a!"]);
  clock.pass(200);
  const late = read("d");
  await turn();
  assertEquals(keysOf().at(-1), ["d"]);
  calls[2]?.end();
  assertEquals(await late, "d!");
});

Deno.test("a full read waits for no spacing, what is left of it does", async () => {
  const { calls, load } = heldLoad();
  const clock = heldClock();
  const read = batcher(load, { spacingMs: 200, clock, concurrency: 1, largest: 2 });
  const keysOf = () => calls.map(({ keys }) => keys);
  const first = read("a");
  await turn();
  const crowd = ["b", "c", "d"].map(read);
  calls[0]?.end();
  assertEquals(await first, "a!");
  assertEquals(keysOf(), [["a"], ["b", "c"]]);
  calls[1]?.end();
  assertEquals(await Promise.all(crowd.slice(0, 2)), ["b!", "c!"]);
  await turn();
  assertEquals(keysOf().length, 2);
  clock.pass(200);
  assertEquals(keysOf()[2], ["d"]);
  calls[2]?.end();
  assertEquals(await crowd[2], "d!");
});

Deno.test("a key without a value is undefined", async () => {
  const read = batcher(() => Promise.resolve(new Map<string, string>()));
  assertEquals(await read("x"), undefined);
});
