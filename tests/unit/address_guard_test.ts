import { assertEquals } from "@std/assert";
import { AddressGuard, type IssuedAddress } from "../../actors/addresses/address_guard.ts";

const row = (walletIndex: number | null, address = `own-${walletIndex}`): IssuedAddress => ({
  network: "TRX",
  address,
  walletIndex,
});

const ONE = "mer_1";
const OTHER = "mer_2";

/** A list of a merchant's own addresses. */
const rowsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, n) => row(first + n));

const UNDERIVABLE = 1_000_000;

/** A guard and the indexes that it derived. */
function guarded(options: { held?: () => string | null; remembered?: number } = {}) {
  const derived: number[] = [];
  const time = { now: 0 };
  const guard = new AddressGuard({
    ...options,
    monotonic: () => time.now,
    derive: (_, index) => {
      derived.push(index);
      if (index === UNDERIVABLE) throw new RangeError("Cannot derive");
      return `own-${index}`;
    },
  });
  return { guard, derived, time };
}

const cases: readonly (readonly [string, readonly IssuedAddress[], boolean])[] = [
  ["nothing at all", [], true],
  ["own addresses", [row(0), row(1)], true],
  ["another one's address", [row(0), row(1, "strange")], false],
  ["an address without an index", [row(null)], false],
  ["an index that cannot be derived", [row(UNDERIVABLE)], false],
  ["a long list with one strange address", [
    ...Array.from({ length: 30 }, (_, n) => row(100 + n)),
    row(7, "strange"),
  ], false],
];
for (const [what, rows, isCleared] of cases) {
  Deno.test(`the guard of addresses ${isCleared ? "clears" : "refuses"} ${what}`, async () => {
    const { guard } = guarded();
    assertEquals(await guard.clears(ONE, rows), isCleared ? "cleared" : "refused");
    assertEquals(guard.mismatches, isCleared ? 0 : 1);
  });
}

Deno.test("an address is derived once, and again only when it was forgotten", async () => {
  const { guard, derived } = guarded({ remembered: 20 });
  const rows = Array.from({ length: 20 }, (_, n) => row(n));
  for (let times = 0; times < 3; times++) assertEquals(await guard.clears(ONE, rows), "cleared");
  assertEquals(derived.length, 20);
  // what is remembered is compared all the same
  assertEquals(await guard.clears(ONE, [row(3, "strange")]), "refused");
  await guard.clears(ONE, [row(50)]);
  assertEquals(await guard.clears(ONE, [row(0)]), "cleared");
  assertEquals(derived.slice(20), [50, 0]);
});

Deno.test("a long list leaves the thread to others while it is derived", async () => {
  const { guard, derived } = guarded();
  let isOver = false;
  const list = guard.clears(ONE, Array.from({ length: 200 }, (_, n) => row(n))).then(() =>
    isOver = true
  );
  let others = 0;
  let most = 0;
  let before = 0;
  while (!isOver) {
    await new Promise((resolve) => setTimeout(resolve));
    others++;
    most = Math.max(most, derived.length - before);
    before = derived.length;
  }
  await list;
  assertEquals([most <= 16, others >= 12], [true, true], `${most} at once, ${others} turns`);
});

Deno.test("a merchant's large lists wait behind themselves, and keep no other's from being answered", async () => {
  const { guard, derived } = guarded();
  const large = [0, 1, 2, 3, 4, 5].map((n) => guard.clears(ONE, rowsFrom(n * 300, 300)));
  assertEquals(await guard.clears(OTHER, rowsFrom(10_000, 20)), "cleared");
  const ofOthers = derived.filter((index) => index < 10_000).length;
  assertEquals(ofOthers <= 4 * 8, true, `${ofOthers} addresses of others were derived first`);
  assertEquals(guard.lists.waiting, 6);
  // one more than a merchant may have is its own affair
  assertEquals(await guard.clears(ONE, rowsFrom(5_000, 9)), "busy");
  assertEquals([guard.lists.refused, guard.lists.givenUp, guard.lists.givenUpMs], [1, 0, null]);
  assertEquals(new Set(await Promise.all(large)), new Set(["cleared"]));
  assertEquals([guard.lists.waiting, guard.lists.oldestMs, guard.mismatches], [0, 0, 0]);
});

Deno.test("a list that takes too long is given up, and goes on from there when it is asked for again", async () => {
  const { guard, derived, time } = guarded();
  const rows = rowsFrom(0, 30);
  const ask = async () => {
    const list = guard.clears(ONE, rows);
    time.now += 10_001;
    return await list;
  };
  assertEquals([await ask(), await ask(), await ask()], ["busy", "busy", "busy"]);
  assertEquals(derived.length, 24);
  assertEquals([guard.lists.givenUp, guard.lists.givenUpMs], [3, 0]);
  // the last six are few enough to be derived at once
  assertEquals([await ask(), derived.length], ["cleared", 30]);
});

Deno.test("lists of many merchants have room for each other, and beyond a bound are refused at once", async () => {
  const { guard } = guarded();
  let next = 0;
  const asks = (merchants: number, of: string, each: number) =>
    Array.from({ length: merchants * each }, (_, n) => {
      const first = 9 * next++;
      return guard.clears(`${of}${n % merchants}`, rowsFrom(first, 9));
    });
  const count = async (lists: readonly Promise<string>[]) =>
    (await Promise.all(lists)).filter((clearance) => clearance === "busy").length;
  const first = asks(8, "first", 6);
  const second = asks(30, "second", 2);
  const third = asks(30, "third", 1);
  assertEquals(guard.lists.waiting, 100);
  assertEquals([await count(first), await count(second), await count(third)], [0, 30, 8]);
  assertEquals([guard.lists.refused, guard.lists.givenUp, guard.mismatches], [30, 8, 0]);
});

Deno.test("a merchant that goes through more addresses than are remembered displaces its own alone", async () => {
  const { guard, derived } = guarded({ remembered: 40 });
  await guard.clears(OTHER, rowsFrom(1_000, 15));
  for (const first of [0, 50, 100]) await guard.clears(ONE, rowsFrom(first, 50));
  const before = derived.length;
  assertEquals(await guard.clears(OTHER, rowsFrom(1_000, 15)), "cleared");
  assertEquals(derived.length, before, "what others have is still known");
  await guard.clears(ONE, [row(149)]);
  assertEquals(derived.length, before);
  // a third one finds room among what the largest has
  await guard.clears("mer_3", rowsFrom(2_000, 12));
  assertEquals(derived.length, before + 12);
  await guard.clears("mer_3", rowsFrom(2_000, 12));
  await guard.clears(OTHER, rowsFrom(1_000, 15));
  assertEquals(derived.length, before + 12);
});

Deno.test("what holds addresses back holds all of them, also a list under way", async () => {
  let held: string | null = null;
  const { guard } = guarded({ held: () => held });
  const list = guard.clears(ONE, Array.from({ length: 30 }, (_, n) => row(n)));
  held = "the signer has another wallet";
  assertEquals([await list, await guard.clears(ONE, []), guard.mismatches], [
    "refused",
    "refused",
    0,
  ]);
});
