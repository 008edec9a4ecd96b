import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Host } from "../../ledger/database/database_url.ts";
import { type HostState, PrimaryFinder } from "../../ledger/database/primary_finder.ts";

const [ONE, TWO]: [Host, Host] = [{ host: "one", port: 5432 }, { host: "two", port: 5432 }];
const STANDBY: HostState = { writable: false, timeline: 0 };

/** A finder of two servers, whose states a test changes; null: it does not answer. */
function finderOf(states: Record<string, HostState | null>) {
  let asked = 0;
  let now = 0;
  const finder = new PrimaryFinder([ONE, TWO], ({ host }) => {
    asked++;
    const state = states[host] ?? null;
    return state === null ? Promise.reject(new Error("no answer")) : Promise.resolve(state);
  }, () => now);
  return { finder, asked: () => asked, pass: (ms: number) => now += ms };
}

Deno.test("the server that takes writes is used, and not asked for again", async () => {
  const { finder, asked } = finderOf({ one: STANDBY, two: { writable: true, timeline: 1 } });
  assertEquals(await Promise.all([finder.find(), finder.find()]), [TWO, TWO]);
  assertEquals(await finder.find(), TWO);
  assertEquals(asked(), 2);
});

Deno.test("of two that take writes the one that was promoted last is used", async () => {
  const { finder } = finderOf({
    one: { writable: true, timeline: 3 },
    two: { writable: true, timeline: 4 },
  });
  assertEquals(await finder.find(), TWO);
});

Deno.test("a former primary that comes back is never used again", async () => {
  const states: Record<string, HostState | null> = {
    one: { writable: true, timeline: 1 },
    two: STANDBY,
  };
  const { finder } = finderOf(states);
  assertEquals(await finder.find(), ONE);
  states["one"] = null;
  states["two"] = { writable: true, timeline: 2 };
  finder.doubt(ONE);
  assertEquals(await finder.find(), TWO);
  states["one"] = { writable: true, timeline: 1 };
  states["two"] = null;
  finder.doubt(TWO);
  const error = await assertRejects(() => finder.find(), Error);
  assert(error.message.includes("one:5432 is a former primary"), error.message);
  assert(error.message.includes("two:5432 no answer"), error.message);
});

Deno.test("a silent server is left only where another one has taken its place", async () => {
  const states: Record<string, HostState | null> = {
    one: { writable: true, timeline: 1 },
    two: STANDBY,
  };
  const { finder, pass } = finderOf(states);
  await finder.find();
  pass(5_000);
  states["one"] = null;
  assertEquals(await finder.isReplaced(ONE), false, "no server is a primary");
  states["two"] = { writable: true, timeline: 2 };
  pass(5_000);
  assertEquals(await finder.isReplaced(ONE), true);
});
