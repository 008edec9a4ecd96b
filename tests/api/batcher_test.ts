import { assertEquals, assertRejects } from "@std/assert";
import { batcher } from "../../ledger/queries/batcher.ts";

/** A load that ends when it is told to. */
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

Deno.test("a key without a value is undefined", async () => {
  const read = batcher(() => Promise.resolve(new Map<string, string>()));
  assertEquals(await read("x"), undefined);
});
